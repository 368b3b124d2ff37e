// SPDX-License-Identifier: Apache-2.0
// The variables that hold values of a statement that is unwound.
#include "plan/unwind.hpp"

#include "plan/names.hpp"

namespace sukima::language {

using namespace clang;

std::string value_name(unsigned number, const context& scope) {
  const std::string name = "sukima_v" + std::to_string(number);
  return scope.version->slow && scope.version->kept.contains(number) ? "sukima_r->" + name : name;
}

std::string begin_value(planner& p, unsigned number, QualType type, const context& scope) {
  std::string name = value_name(number, scope);
  if (!scope.version->slow) return declare_unqualified(p, type, name);
  if (!scope.version->kept.contains(number))
    scope.version->declarations += " " + declare_unqualified(p, type, name) + ";";
  return name;
}

void substitute(token_range range, const std::string& text, const context& scope) {
  scope.version->substitutes[range.begin].emplace_back(range.end, text);
}

}  // namespace sukima::language
