// SPDX-License-Identifier: Apache-2.0
#include "source/implicit_names.hpp"

namespace sukima::language {

using namespace clang;

namespace {

constexpr const char* backtracking_name = "backtracking";

/// Returns whether this function may use constructs. While Clang parses, `worker` is a calling convention;
/// for `main` it is only in the type as written.
bool binds_names(const FunctionDecl* function) {
  if (function == nullptr) return false;
  if (function->getDeclName().isIdentifier() && function->getName().starts_with(execution_prefix))
    return true;
  const TypeSourceInfo* const written = function->getTypeSourceInfo();
  const QualType type = written != nullptr ? written->getType() : function->getType();
  return type->castAs<FunctionType>()->getCallConv() == CC_PreserveMost;
}

}  // namespace

bool is_backtracking(const VarDecl* variable) {
  return variable->isImplicit() && variable->isFileVarDecl() && variable->getName() == backtracking_name;
}

bool implicit_names::LookupUnqualified(LookupResult& result, Scope*) {
  const IdentifierInfo* const name = result.getLookupName().getAsIdentifierInfo();
  if (name == nullptr || !name->isStr(backtracking_name) || result.isForRedeclaration() ||
      result.getLookupKind() != Sema::LookupOrdinaryName)
    return false;
  Sema& sema = result.getSema();
  if (!binds_names(sema.getCurFunctionDecl(/*AllowLambda=*/true))) return false;
  if (backtracking_ == nullptr) {
    ASTContext& ast = sema.getASTContext();
    // `register`, because the planner prints a value, which has no address.
    backtracking_ = VarDecl::Create(ast, ast.getTranslationUnitDecl(), SourceLocation(), SourceLocation(),
                                    name, ast.IntTy.withConst(),
                                    ast.getTrivialTypeSourceInfo(ast.IntTy.withConst()), SC_Register);
    backtracking_->setImplicit();
  }
  result.addDecl(backtracking_);
  result.resolveKind();
  return true;
}

}  // namespace sukima::language
