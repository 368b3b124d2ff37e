// SPDX-License-Identifier: Apache-2.0
// Warns of values that depend on the time of another worker's request, or on how the C compiler stores
// strings.
#include "check/check.hpp"

#include "check/rules.hpp"

namespace sukima::language {
namespace {

using namespace clang;

class value_checker : rules {
 public:
  value_checker(CompilerInstance& compiler, const unit& u, const semantic_index& index)
      : rules(compiler, u, index) {}

  void run() {
    for (const Expr* tag : index_.tags)
      if (tag->getType()->isFloatingType())
        warning(tag->getExprLoc(), "-Wfloat-tag",
                "tags are integers and addresses, and the fraction of this number is lost; write an integer");
    for (const construct& c : unit_.constructs) {
      if (c.kind == construct_kind::do_two || c.kind == construct_kind::loop) check_put(c);
      if (c.kind == construct_kind::try_catch || c.kind == construct_kind::throw_tag) check_tag(c);
    }
  }

 private:
  /// Checks PUT, which runs in the middle of the first part or of an iteration.
  void check_put(const construct& c) const {
    const function_info* const f = index_.function_at(c.whole.begin);
    if (f == nullptr) return;
    std::set<const VarDecl*> seen;
    for (token_index t = c.put.begin; t < c.put.end; ++t) {
      const auto name = index_.names.find(t);
      if (name == index_.names.end() || unit_.roles[t] != token_role::user) continue;
      const auto* variable = dyn_cast<VarDecl>(name->second);
      if (variable == nullptr || !seen.insert(variable).second || index_.assignments.contains(t + 1))
        continue;
      const token_index change = result_of_worker(variable, c, *f);
      if (change != no_token)
        warning(location_of(t), "-Wput",
                "PUT reads '" + variable->getNameAsString() + "', which " +
                    (c.kind == construct_kind::loop ? "an iteration" : "the first part of this 'do_two'") +
                    " computes; PUT may run before that computation ends");
    }
  }

  /// Returns the place where S1 or an iteration assigns a worker function's result to a variable of the
  /// function; otherwise no_token.
  token_index result_of_worker(const VarDecl* variable, const construct& c, const function_info& f) const {
    if (!variable->hasLocalStorage() || variable->getType().isVolatileQualified() ||
        variable->getType()->isAtomicType())
      return no_token;
    const auto declared = index_.declared.find(variable);
    if (declared == index_.declared.end() || c.whole.holds(declared->second)) return no_token;
    const auto changes = f.changes.find(variable);
    if (changes == f.changes.end()) return no_token;
    const auto first = changes->second.lower_bound(c.first.begin);
    for (const token_index t : std::ranges::subrange(first, changes->second.lower_bound(c.first.end))) {
      if (is_undone(t, c)) continue;
      const auto assignment = index_.assignments.find(t + 1);
      if (assignment == index_.assignments.end()) continue;
      for (token_index k = t + 2; k < c.first.end && unit_.tokens[k].isNot(tok::semi); ++k)
        if (index_.calls.contains(k)) return t;
    }
    return no_token;
  }

  /// Returns whether a token is in a dynamic_wind that undoes its changes.
  bool is_undone(token_index t, const construct& c) const {
    for (const construct* inner = unit_.construct_around(t); inner != nullptr && inner != &c;
         inner = inner->around)
      if (inner->before.holds(t) || inner->after.holds(t)) return true;
    return false;
  }

  void check_tag(const construct& c) const {
    bool is_string = false;
    for (token_index t = c.from.begin; t < c.from.end; ++t) {
      if (unit_.roles[t] == token_role::parsed_only || unit_.tokens[t].isOneOf(tok::l_paren, tok::r_paren))
        continue;
      if (!tok::isStringLiteral(unit_.tokens[t].getKind())) return;
      is_string = true;
    }
    if (is_string)
      warning(c.location, "-Wstring-tag",
              "tags are compared by address, and equal string literals may have different addresses; use a "
              "number or the address of an object");
  }
};

}  // namespace

void check_values(CompilerInstance& compiler, const unit& u, const semantic_index& index) {
  value_checker(compiler, u, index).run();
}

}  // namespace sukima::language
