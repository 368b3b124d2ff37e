// SPDX-License-Identifier: Apache-2.0
// Records which variables a function changes, and whose addresses it takes. The planner captures the other
// variables by value.
#include "index/recording.hpp"

namespace sukima::language {

using namespace clang;

namespace {

/// Returns the variable that contains an lvalue, or null.
const VarDecl* variable_of(const Expr* e) {
  for (;;) {
    e = e->IgnoreParenCasts();
    if (const auto* member = dyn_cast<MemberExpr>(e)) {
      if (member->isArrow()) return nullptr;
      e = member->getBase();
    } else if (const auto* element = dyn_cast<ArraySubscriptExpr>(e)) {
      const Expr* base = element->getBase()->IgnoreParenCasts();
      if (!base->getType()->isArrayType()) return nullptr;
      e = base;
    } else if (const auto* unary = dyn_cast<UnaryOperator>(e);
               unary != nullptr && (unary->getOpcode() == UO_Extension || unary->getOpcode() == UO_Real ||
                                    unary->getOpcode() == UO_Imag)) {
      e = unary->getSubExpr();
    } else {
      const auto* reference = dyn_cast<DeclRefExpr>(e);
      return reference == nullptr ? nullptr : dyn_cast<VarDecl>(reference->getDecl());
    }
  }
}

void record_address(const Expr* lvalue, function_info* function) {
  if (const VarDecl* v = variable_of(lvalue))
    for (function_info* f = function; f != nullptr; f = f->outer) f->address_taken.insert(v);
}

}  // namespace

void record_address_operator(const recording& to, const UnaryOperator* e, function_info* function) {
  const Expr* operand = e->getSubExpr();
  if (const auto* deref = dyn_cast<UnaryOperator>(operand);
      deref != nullptr && deref->getOpcode() == UO_Deref && deref->getOperatorLoc() == e->getOperatorLoc())
    operand = deref->getSubExpr();  // the `*` was inserted (desugar/closure_addresses.hpp)
  const auto* reference = dyn_cast<DeclRefExpr>(operand->IgnoreParenImpCasts());
  const auto* variable = reference == nullptr ? nullptr : dyn_cast<VarDecl>(reference->getDecl());
  if (variable != nullptr && to.index.closure_variables.contains(variable))
    to.index.dropped.insert(to.of.find(e->getOperatorLoc()));
  else
    record_address(e->getSubExpr(), function);
}

void record_change(const recording& to, const Expr* lvalue, function_info* function) {
  const VarDecl* v = function == nullptr ? nullptr : variable_of(lvalue);
  if (v == nullptr) return;
  function->changes[v].insert(to.of.find(lvalue->getExprLoc()));
  // For the enclosing functions the change has no particular position, because a closure may run at any time.
  for (function_info* f = function->outer; f != nullptr; f = f->outer) f->changes[v].insert(no_token);
}

}  // namespace sukima::language
