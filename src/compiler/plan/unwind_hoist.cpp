// SPDX-License-Identifier: Apache-2.0
// Moves calls that may unwind their caller out of their expressions, in an order that C allows.
#include "plan/unwind.hpp"

#include "plan/names.hpp"
#include "plan/tokens.hpp"

namespace sukima::language {

using namespace clang;

namespace {

/// Returns whether the statement makes any call outside the blocks of closures.
bool calls_anything(const Stmt* s) {
  if (s == nullptr || isa<UnaryExprOrTypeTraitExpr, StmtExpr>(s)) return false;
  if (isa<CallExpr>(s)) return true;
  const auto children = s->children();
  return std::any_of(children.begin(), children.end(), calls_anything);
}

void hoist_all(planner& p, sheet& out, const Expr* e, const context& scope);

/// Rewrites A, B as `(void)(A);` before B.
void hoist_comma(planner& p, sheet& out, const BinaryOperator* e, bool pinned, const context& scope) {
  hoist(p, out, e->getLHS(), scope);
  const token_range left = p.in.unwinding->tokens_of(e->getLHS());
  out.text(" (void)(");
  plan_tokens(p, out, left, scope);
  out.text(");");
  if (pinned)
    hoist_all(p, out, e->getRHS(), scope);
  else
    hoist(p, out, e->getRHS(), scope);
  substitute({left.begin, p.in.unwinding->tokens_of(e->getRHS()).begin}, "", scope);
}

/// Rewrites A && B, where B contains a call, as `int v = (A) != 0; if (v) v = (B) != 0;`.
void hoist_logical(planner& p, sheet& out, const BinaryOperator* e, const context& scope) {
  unwind_version& v = *scope.version;
  hoist(p, out, e->getLHS(), scope);
  const unsigned number = ++v.values;
  out.text(" " + begin_value(p, number, p.in.ast.IntTy, scope) + " = (");
  plan_tokens(p, out, p.in.unwinding->tokens_of(e->getLHS()), scope);
  const std::string name = value_name(number, scope);
  out.text(std::string(") != 0; if (") + (e->getOpcode() == BO_LOr ? "!" : "") + name + ") {");
  const std::size_t waiting = v.waiting.size();
  hoist(p, out, e->getRHS(), scope);
  out.text(" " + name + " = (");
  plan_tokens(p, out, p.in.unwinding->tokens_of(e->getRHS()), scope);
  out.text(") != 0; }");
  v.waiting.resize(waiting);
  v.waiting.emplace_back(number, p.in.ast.IntTy);
  substitute(p.in.unwinding->tokens_of(e), name, scope);
}

/// Rewrites C ? X : Y, where X or Y contains a call, as `if (C) v = X; else v = Y;`.
void hoist_choice(planner& p, sheet& out, const ConditionalOperator* e, const context& scope) {
  unwind_version& v = *scope.version;
  hoist(p, out, e->getCond(), scope);
  const unsigned number = ++v.values;
  const QualType type = e->getType();
  std::string name;
  if (!type->isVoidType()) {
    const std::string declared = begin_value(p, number, type, scope);
    if (!v.slow) out.text(" " + declared + ";");
    name = value_name(number, scope);
  }
  out.text(" if (");
  plan_tokens(p, out, p.in.unwinding->tokens_of(e->getCond()), scope);
  out.text(") {");
  const std::size_t waiting = v.waiting.size();
  for (const Expr* one : {e->getTrueExpr(), e->getFalseExpr()}) {
    if (one == e->getFalseExpr()) out.text(" } else {");
    hoist(p, out, one, scope);
    out.text(name.empty() ? " (void)(" : " " + name + " = (");
    plan_tokens(p, out, p.in.unwinding->tokens_of(one), scope);
    out.text(");");
    v.waiting.resize(waiting);
  }
  out.text(" }");
  if (!name.empty()) v.waiting.emplace_back(number, type);
  substitute(p.in.unwinding->tokens_of(e), name.empty() ? "(void)0" : "(" + name + ")", scope);
}

/// Hoists the operands of an expression from left to right. Calls of plain C keep their place among the other
/// calls.
void hoist_children(planner& p, sheet& out, const Expr* e, const context& scope) {
  const auto* assignment = dyn_cast<BinaryOperator>(e);
  std::vector<const Expr*> operands;
  for (const Stmt* child : e->children())
    if (const auto* one = dyn_cast_or_null<Expr>(child)) operands.push_back(one);
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const bool more = std::any_of(operands.begin() + static_cast<std::ptrdiff_t>(k) + 1, operands.end(),
                                  [&](const Expr* later) { return p.in.unwinding->holds_call(later); });
    if (more && (assignment == nullptr || !assignment->isAssignmentOp()))
      hoist_all(p, out, operands[k], scope);
    else
      hoist(p, out, operands[k], scope);
  }
}

}  // namespace

void hoist(planner& p, sheet& out, const Expr* e, const context& scope) {
  if (e == nullptr || !p.in.unwinding->holds_call(e)) return;
  if (const auto* call = dyn_cast<CallExpr>(e)) {
    hoist_children(p, out, call, scope);
    if (p.in.unwinding->unwinds(call)) unwind_call(p, out, call, scope);
    return;
  }
  if (const auto* two = dyn_cast<BinaryOperator>(e)) {
    if (two->isLogicalOp() && p.in.unwinding->holds_call(two->getRHS()))
      return hoist_logical(p, out, two, scope);
    if (two->getOpcode() == BO_Comma) return hoist_comma(p, out, two, false, scope);
  }
  if (const auto* either = dyn_cast<ConditionalOperator>(e);
      either != nullptr && (p.in.unwinding->holds_call(either->getTrueExpr()) ||
                            p.in.unwinding->holds_call(either->getFalseExpr())))
    return hoist_choice(p, out, either, scope);
  hoist_children(p, out, e, scope);
}

namespace {

/// Does the same as hoist, and also hoists the calls of plain C.
void hoist_all(planner& p, sheet& out, const Expr* e, const context& scope) {
  unwind_version& v = *scope.version;
  if (!calls_anything(e)) return;
  const auto* call = dyn_cast<CallExpr>(e);
  const auto* two = dyn_cast<BinaryOperator>(e);
  if (two != nullptr && two->getOpcode() == BO_Comma) return hoist_comma(p, out, two, true, scope);
  const bool chooses = isa<ConditionalOperator>(e) || (two != nullptr && two->isLogicalOp());
  if (call != nullptr && p.in.unwinding->unwinds(call)) return hoist(p, out, e, scope);
  if (call == nullptr && !chooses) {
    for (const Stmt* child : e->children())
      if (const auto* one = dyn_cast_or_null<Expr>(child)) hoist_all(p, out, one, scope);
    return;
  }
  if (call != nullptr && call->getBuiltinCallee() != 0 && !call->HasSideEffects(p.in.ast)) return;
  hoist(p, out, e, scope);
  const token_range tokens = p.in.unwinding->tokens_of(e);
  const QualType type = e->getType();
  if (type->isVoidType() || tokens.empty()) return;
  const unsigned number = ++v.values;
  out.text(" " + begin_value(p, number, type, scope) + " = ");
  plan_tokens(p, out, tokens, scope);
  out.text(";");
  v.waiting.emplace_back(number, type);
  substitute(tokens, value_name(number, scope), scope);
}

}  // namespace

}  // namespace sukima::language
