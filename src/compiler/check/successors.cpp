// SPDX-License-Identifier: Apache-2.0
// The rules of loops by successor. A worker that splits such a loop evaluates CONDITION and NEXT again, at
// any time.
#include "check/check.hpp"

#include "check/rules.hpp"

namespace sukima::language {
namespace {

using namespace clang;

class successor_checker : rules {
 public:
  successor_checker(CompilerInstance& compiler, const unit& u, const semantic_index& index)
      : rules(compiler, u, index) {}

  void run() const {
    for (const construct& c : unit_.constructs) {
      if (c.next.empty()) continue;
      check_type(c);
      check_head(c, c.condition, "the condition");
      check_head(c, c.next, "the successor");
    }
  }

 private:
  /// Returns the variable that a token names; null: it names none.
  const VarDecl* variable_at(token_index t) const {
    const auto name = index_.names.find(t);
    return name == index_.names.end() ? nullptr : dyn_cast<VarDecl>(name->second);
  }

  void check_type(const construct& c) const {
    const VarDecl* const variable = variable_at(c.variable);
    if (variable == nullptr) return;
    const QualType type = variable->getType();
    const bool is_word = (type->isIntegralOrEnumerationType() || type->isAnyPointerType()) &&
                         ast_.getTypeSize(type) <= ast_.getTypeSize(ast_.getUIntPtrType());
    if (!is_word)
      error(location_of(c.type.begin),
            "the variable of a loop by successor must be a pointer or an integer of at most 64 bits");
  }

  static bool is_change(const Token& token) {
    return token.isOneOf(tok::equal, tok::plusequal, tok::minusequal, tok::starequal, tok::slashequal,
                         tok::percentequal, tok::ampequal, tok::pipeequal, tok::caretequal,
                         tok::lesslessequal, tok::greatergreaterequal, tok::plusplus, tok::minusminus);
  }

  void check_head(const construct& c, token_range part, const std::string& name) const {
    const std::string where = name + " of a loop by successor";
    for (token_index t = part.begin; t < part.end; ++t) {
      if (is_change(unit_.tokens[t]))
        error(location_of(t),
              where + " must not change anything, because it is evaluated again when the loop is split");
      if (unit_.tokens[t].is(tok::l_brace))
        error(location_of(t), where + " must be an expression without blocks; call a plain function");
      if (index_.calls.contains(t) || index_.closure_calls.contains(t))
        error(location_of(t),
              where + " cannot call worker functions or closures; call a plain function, or use the body");
      check_constant(c, t, where);
    }
  }

  /// Reports the use of a variable that the loop changes, because it has another value when the loop is
  /// split.
  void check_constant(const construct& c, token_index t, const std::string& where) const {
    const VarDecl* const variable = variable_at(t);
    const function_info* const f = index_.function_at(t);
    if (variable == nullptr || f == nullptr) return;
    if (f->changes_in_closure(variable) || f->changes_in(variable, c.whole))
      error(location_of(t), where + " uses '" + variable->getNameAsString() +
                                "', which changes in the loop; keep a copy of it in another variable");
  }
};

}  // namespace

void check_successors(CompilerInstance& compiler, const unit& u, const semantic_index& index) {
  successor_checker(compiler, u, index).run();
}

}  // namespace sukima::language
