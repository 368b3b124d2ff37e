// SPDX-License-Identifier: Apache-2.0
// The rules for closures that C does not have.
#include "check/check.hpp"

#include "check/rules.hpp"

namespace sukima::language {
namespace {

using namespace clang;

class closure_checker : rules {
 public:
  closure_checker(CompilerInstance& compiler, const unit& u, const semantic_index& index)
      : rules(compiler, u, index) {}

  void run() {
    check_label_addresses();
    for (const auto& [keyword, j] : index_.jumps)
      if (j.kind == jump_kind::go_to && j.target != no_token) gotos_.emplace(j.target, keyword);
    for (const closure_declaration& c : unit_.closures) {
      if (c.body.empty() && c.definition == nullptr && c.forward == nullptr)
        error(c.location,
              "closure '" + c.name + "' is declared but not defined in this block; define it here");
      if (c.forward != nullptr && !c.body.empty()) check_types(c);
      check_jumps_past(c);
      check_parameters(c);
    }
    for (const FunctionDecl* f : index_.declared_by_typedef)
      error(
          f->getLocation(),
          "'" + f->getNameAsString() +
              "' cannot be declared through a typedef of closures; write 'closure' and the parameters here");
    for (const SourceLocation location : index_.casts_of_closures)
      error(location,
            "a closure does not convert to a plain function; use a pointer to closures: (*p) closure (…)");
    for (const function_info& f : index_.closures) check_leaving(f);
    for (const auto& [keyword, label] : index_.closure_jumps) check_label(keyword, label);
  }

 private:
  void check_label_addresses() const {
    for (const auto& [t, label] : index_.label_addresses) {
      const function_info* const f = index_.function_at(t);
      const auto place = index_.all_labels.find(label);
      if (f != nullptr && f->closure != nullptr && place != index_.all_labels.end() &&
          !f->body.holds(place->second))
        error(location_of(t), "closure '" + f->closure->name + "' cannot take the address of label '" +
                                  label->getNameAsString() +
                                  "', which is outside the closure; jump to it with 'goto'");
    }
  }

  const VarDecl* variable_of(const closure_declaration& c) const {
    for (const auto& [variable, closure] : index_.closure_variables)
      if (closure == &c) return variable;
    return nullptr;
  }

  void check_types(const closure_declaration& c) {
    const VarDecl* ahead = variable_of(*c.forward);
    const VarDecl* own = variable_of(c);
    if (ahead == nullptr || own == nullptr || c.is_worker != c.forward->is_worker ||
        !ast_.typesAreCompatible(ahead->getType(), own->getType()))
      error(c.location, "closure '" + c.name +
                            "' differs in type from its forward declaration; use the same type in both");
  }

  /// Returns whether a token is an operand of `typeof`.
  bool is_in_typeof(token_index t) const {
    for (token_index open = unit_.opened[t]; open != no_token && open > 0; open = unit_.opened[open])
      if (unit_.tokens[open - 1].isOneOf(tok::kw_typeof, tok::kw_typeof_unqual)) return true;
    return false;
  }

  /// Reports parameters that use local variables of the enclosing function. The generated C evaluates
  /// parameters outside the block of these variables, where they are not visible.
  void check_parameters(const closure_declaration& c) {
    for (token_index t = c.parameters.begin; t < c.parameters.end; ++t) {
      const auto name = index_.names.find(t);
      if (name == index_.names.end() || unit_.roles[t] != token_role::user) continue;
      const auto* variable = dyn_cast<VarDecl>(name->second);
      if (variable == nullptr || !variable->hasLocalStorage()) continue;
      const auto declared = index_.declared.find(variable);
      if (declared == index_.declared.end() || c.whole.holds(declared->second)) continue;
      error(location_of(t),
            "the parameters of closure '" + c.name + "' cannot use '" + variable->getNameAsString() +
                "' of the enclosing function; " +
                (is_in_typeof(t) ? "write the type instead of 'typeof'" : "pass it as a parameter as well"));
    }
  }

  /// Returns the part of the block around a closure that begins at the end of its declaration.
  token_range scope_of(const closure_declaration& c) const {
    const token_range block = unit_.block_around(c.whole.begin);
    return {c.whole.end, block.empty() ? c.whole.end : block.end - 1};
  }

  /// Reports jumps over a closure's declaration, because they would leave its pointer uninitialised.
  void check_jumps_past(const closure_declaration& c) {
    const token_range scope = scope_of(c);
    const std::string message = " skips the declaration of closure '" + c.name +
                                "'; move the declaration before it, or into a block of its own";
    const auto first = gotos_.lower_bound(scope.begin);
    for (const auto& [target, keyword] : std::ranges::subrange(first, gotos_.lower_bound(scope.end)))
      if (!scope.holds(keyword) && index_.function_at(keyword) == index_.function_at(target))
        error(location_of(keyword), "this 'goto'" + message);
    const function_info* f = index_.function_at(c.whole.begin);
    if (f == nullptr) return;
    for (const auto& [statement, head] : f->switches) {
      const token_index t = unit_.find(statement->getKeywordLoc());
      if (t != no_token && scope.holds(t) && !scope.holds(head))
        error(location_of(t), "the jump from the 'switch' to this label" + message);
    }
  }

  void check_leaving(const function_info& f) {
    for (const SwitchCase* label : f.stray_labels)
      error(label->getKeywordLoc(), std::string("'") + (isa<CaseStmt>(label) ? "case" : "default") +
                                        "' is not inside a 'switch' of closure '" + f.closure->name +
                                        "'; move the 'switch' into the closure");
    for (token_index t = f.body.begin; t < f.body.end; ++t) {
      if (index_.function_at(t) != &f) continue;
      const auto j = index_.jumps.find(t);
      if (j == index_.jumps.end() || j->second.target != no_token) continue;
      if (j->second.kind == jump_kind::leave_block || j->second.kind == jump_kind::next_iteration)
        error(location_of(t), "'" + unit_.tokens[t].getIdentifierInfo()->getName().str() +
                                  "' is not inside a loop of closure '" + f.closure->name +
                                  "'; use 'goto' to a '__label__' of the enclosing function");
    }
  }

  void check_label(token_index keyword, const LabelDecl* label) {
    if (label->isGnuLocal()) return check_construct(keyword, label);
    const std::string name = label->getNameAsString();
    error(location_of(keyword), "'" + name + "' is a label of the enclosing function; write '__label__ " +
                                    name + ";' at the start of its block");
  }

  /// Reports a jump into a construct. The jump continues from the closure's declaration, so it would enter
  /// the construct from there.
  void check_construct(token_index keyword, const LabelDecl* label) {
    const auto location = index_.all_labels.find(label);
    if (location == index_.all_labels.end()) return;
    const function_info* owner = index_.function_at(location->second);
    SUKIMA_ASSERT(owner != nullptr, "each label is in a function");
    for (const construct* c : owner->constructs)
      for (const token_range& part : {c->first, c->second, c->before, c->after, c->put, c->get})
        if (part.holds(location->second) && !part.holds(keyword))
          error(
              location_of(keyword),
              "this 'goto' out of a closure jumps into a construct; move the label before the construct, or "
              "declare the closure inside it");
  }

  std::multimap<token_index, token_index> gotos_;  ///< their keywords, by the labels
};

}  // namespace

void check_closures(CompilerInstance& compiler, const unit& u, const semantic_index& index) {
  closure_checker(compiler, u, index).run();
}

}  // namespace sukima::language
