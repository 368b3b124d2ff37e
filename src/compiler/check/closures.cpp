// SPDX-License-Identifier: Apache-2.0
// The rules of closures that C's do not imply.
#include "check/check.hpp"

namespace sukima::language {
namespace {

using namespace clang;

class closure_checker {
 public:
  closure_checker(CompilerInstance& compiler, const unit& u, const semantic_index& index)
      : diagnostics_(compiler.getDiagnostics()), ast_(compiler.getASTContext()), unit_(u), index_(index) {}

  void run() {
    for (const closure_declaration& c : unit_.closures) {
      if (c.body.empty() && c.definition == nullptr && c.forward == nullptr)
        error(c.location, "closure '" + c.name + "' is declared ahead, but has no block in this block");
      if (c.forward != nullptr && !c.body.empty()) check_types(c);
      check_jumps_past(c);
      check_parameters(c);
    }
    for (const FunctionDecl* f : index_.declared_by_typedef)
      error(f->getLocation(),
            "'" + f->getNameAsString() +
                "' is declared with a typedef of closures; write 'closure' and the parameters out");
    for (const SourceLocation location : index_.casts_of_closures)
      error(location,
            "a closure does not become a plain function; make it a pointer to closures: (*p) closure (…)");
    for (const function_info& f : index_.closures) check_leaving(f);
    for (const auto& [keyword, label] : index_.closure_jumps) check_label(keyword, label);
  }

 private:
  void error(SourceLocation location, const std::string& message) {
    diagnostics_.Report(location, diagnostics_.getCustomDiagID(DiagnosticsEngine::Error, "%0")) << message;
  }
  SourceLocation location_of(token_index t) const { return unit_.tokens[t].getLocation(); }

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
      error(c.location, "closure '" + c.name + "' has another type than its declaration ahead");
  }

  /// Parameters exist in front of what the block sees.
  void check_parameters(const closure_declaration& c) {
    for (token_index t = c.parameters.begin; t < c.parameters.end; ++t) {
      const auto name = index_.names.find(t);
      if (name == index_.names.end() || unit_.roles[t] != token_role::user) continue;
      const auto* variable = dyn_cast<VarDecl>(name->second);
      if (variable == nullptr || !variable->hasLocalStorage()) continue;
      const auto declared = index_.declared.find(variable);
      if (declared != index_.declared.end() && !c.whole.holds(declared->second))
        error(location_of(t), "the parameters of closure '" + c.name + "' cannot be declared with '" +
                                  variable->getNameAsString() +
                                  "' of the function around it; hand that on as a parameter, too");
    }
  }

  /// The block around a closure, from behind its declaration on.
  token_range scope_of(const closure_declaration& c) const {
    const token_range block = unit_.block_around(c.whole.begin);
    return {c.whole.end, block.empty() ? c.whole.end : block.end - 1};
  }

  /// A jump that goes past the place where a closure comes to life.
  void check_jumps_past(const closure_declaration& c) {
    const token_range scope = scope_of(c);
    const std::string message = " jumps past the declaration of closure '" + c.name +
                                "'; declare it in front, or in a block of its own";
    for (const auto& [keyword, j] : index_.jumps)
      if (j.kind == jump_kind::go_to && j.target != no_token && scope.holds(j.target) &&
          !scope.holds(keyword) && index_.function_at(keyword) == index_.function_at(j.target))
        error(location_of(keyword), "this 'goto'" + message);
    const function_info* f = index_.function_at(c.whole.begin);
    if (f == nullptr) return;
    for (const auto& [statement, head] : f->switches) {
      const token_index t = unit_.find(statement->getKeywordLoc());
      if (t != no_token && scope.holds(t) && !scope.holds(head))
        error(location_of(t), "the way from the 'switch' to this label" + message);
    }
  }

  void check_leaving(const function_info& f) {
    for (token_index t = f.body.begin; t < f.body.end; ++t) {
      if (index_.function_at(t) != &f) continue;
      const auto j = index_.jumps.find(t);
      if (j == index_.jumps.end() || j->second.target != no_token) continue;
      if (j->second.kind == jump_kind::leave_block || j->second.kind == jump_kind::next_iteration)
        error(location_of(t), "'" + unit_.tokens[t].getIdentifierInfo()->getName().str() +
                                  "' stands in no loop of closure '" + f.closure->name +
                                  "'; use 'goto' to a '__label__' of the function around it");
    }
  }

  void check_label(token_index keyword, const LabelDecl* label) {
    if (label->isGnuLocal()) return check_construct(keyword, label);
    const std::string name = label->getNameAsString();
    error(location_of(keyword), "'" + name +
                                    "' is a label of the function around the closure; write '__label__ " +
                                    name + ";' at the start of the block that it stands in");
  }

  /// The jump goes on from where the closure was declared: into no construct that does not hold that place.
  void check_construct(token_index keyword, const LabelDecl* label) {
    const auto location = index_.all_labels.find(label);
    if (location == index_.all_labels.end()) return;
    const function_info* owner = index_.function_at(location->second);
    for (const construct* c : owner->constructs)
      for (const token_range& part : {c->first, c->second, c->before, c->after, c->put, c->get})
        if (part.holds(location->second) && !part.holds(keyword))
          error(location_of(keyword),
                "this 'goto' out of a closure jumps into a construct; put the label in front of the "
                "construct, or "
                "declare the closure inside of it");
  }

  DiagnosticsEngine& diagnostics_;
  ASTContext& ast_;
  const unit& unit_;
  const semantic_index& index_;
};

}  // namespace

void check_closures(CompilerInstance& compiler, const unit& u, const semantic_index& index) {
  closure_checker(compiler, u, index).run();
}

}  // namespace sukima::language
