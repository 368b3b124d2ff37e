// SPDX-License-Identifier: Apache-2.0
// The rules for objects of which each worker has one.
#include "check/check.hpp"

#include "check/rules.hpp"

namespace sukima::language {
namespace {

using namespace clang;

class worker_local_checker : rules {
 public:
  worker_local_checker(CompilerInstance& compiler, const unit& u, const semantic_index& index)
      : rules(compiler, u, index) {}

  void run() const {
    for (const token_range& declaration : unit_.worker_locals) check_names(declaration);
    for (const auto& [t, variable] : in_order(index_.declared)) {
      if (is_worker_local(variable)) check_declaration(*variable, t);
      if (variable->hasGlobalStorage() && variable->getInit() != nullptr) check_constant(variable->getInit());
    }
  }

 private:
  bool is_worker_local(const ValueDecl* declaration) const {
    const auto* const variable = dyn_cast<VarDecl>(declaration);
    return variable != nullptr && index_.worker_locals.contains(variable->getCanonicalDecl());
  }

  /// Reports functions and types.
  void check_names(token_range declaration) const {
    for (token_index t = declaration.begin; t < declaration.end; ++t) {
      const auto name = index_.names.find(t);
      if (name != index_.names.end() && isa<FunctionDecl, TypedefNameDecl>(name->second) &&
          name->second->getLocation() == location_of(t))
        error(location_of(t), "'worker_local' applies to variables, and '" + name->second->getNameAsString() +
                                  "' is none; omit 'worker_local'");
    }
  }

  void check_declaration(const VarDecl& variable, token_index t) const {
    const std::string name = "'" + variable.getNameAsString() + "'";
    if (variable.isLocalExternDecl()) return;
    if (std::ranges::none_of(unit_.worker_locals, [t](token_range r) { return r.holds(t); }))
      return error(variable.getLocation(), name +
                                               " is declared with 'worker_local' elsewhere; write "
                                               "'worker_local' before this declaration, too");
    if (variable.getTSCSpec() != TSCS_unspecified)
      return error(variable.getLocation(), name +
                                               " cannot be an object of each worker and of each thread; omit "
                                               "'worker_local' or '_Thread_local'");
    // Clang completes the type at the end of the file.
    const TypeSourceInfo* const written = variable.getTypeSourceInfo();
    VarDecl& one = const_cast<VarDecl&>(variable);
    if (written != nullptr && written->getType()->isIncompleteArrayType() && variable.getInit() == nullptr &&
        variable.isThisDeclarationADefinition(ast_) == VarDecl::TentativeDefinition &&
        one.getActingDefinition() == &one)
      error(variable.getLocation(),
            "the array " + name + " of each worker needs a length; write it in the brackets");
  }

  /// Reports worker_local objects in an initial value that must be constant. Operands of `sizeof` and
  /// similar are not evaluated.
  void check_constant(const Stmt* part) const {
    if (part == nullptr || isa<UnaryExprOrTypeTraitExpr>(part)) return;
    if (const auto* const choice = dyn_cast<GenericSelectionExpr>(part))
      return choice->isResultDependent() ? void() : check_constant(choice->getResultExpr());
    const auto* const use = dyn_cast<DeclRefExpr>(part);
    if (use != nullptr && is_worker_local(use->getDecl()))
      error(use->getLocation(), "'" + use->getDecl()->getNameAsString() +
                                    "' is another object on each worker, so neither its value nor its "
                                    "address is constant; store it in a function");
    for (const Stmt* const inner : part->children()) check_constant(inner);
  }
};

}  // namespace

void check_worker_locals(CompilerInstance& compiler, const unit& u, const semantic_index& index) {
  worker_local_checker(compiler, u, index).run();
}

}  // namespace sukima::language
