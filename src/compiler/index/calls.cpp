// SPDX-License-Identifier: Apache-2.0
// Calls of worker functions and closures, and the function types that desugaring marked.
#include "index/recording.hpp"
#include "source/report.hpp"

namespace sukima::language {

using namespace clang;

namespace {

void record_closure_call(const recording& to, const CallExpr* call, token_index open,
                         const function_info* function) {
  closure_call c{};
  c.call = call;
  c.open = open;
  c.first = to.of.find(call->getBeginLoc());
  c.is_worker = is_worker_type(call->getCallee()->getType());
  c.in_worker = function != nullptr && function->is_worker;
  c.has_arguments = call->getNumArgs() > 0;
  // The callee is known only for f(…). With parentheses or stars it is a call through a pointer.
  if (const auto* reference = dyn_cast<DeclRefExpr>(call->getCallee()->IgnoreImpCasts()))
    if (const auto* variable = dyn_cast<VarDecl>(reference->getDecl());
        variable != nullptr && to.index.closure_variables.contains(variable))
      c.callee = variable;
  SUKIMA_ASSERT(c.callee == nullptr || !isa<ParmVarDecl>(c.callee),
                "a parameter is no closure but a pointer to one");
  to.index.closure_calls[open] = c;
}

void record_worker_call(const recording& to, const CallExpr* call, token_index open,
                        const function_info* function) {
  worker_call w{};
  w.call = call;
  w.open = open;
  w.first = to.of.find(call->getBeginLoc());
  w.in_worker = function != nullptr && function->is_worker;
  w.has_arguments = call->getNumArgs() > 0;
  const auto* const reference = dyn_cast<DeclRefExpr>(call->getCallee()->IgnoreParenImpCasts());
  if (reference != nullptr) w.callee = dyn_cast<FunctionDecl>(reference->getDecl());
  // If the bracket is further away than in f( or (f)(, the callee is the value of an expression, such as
  // _Generic.
  if (w.callee != nullptr && open - to.of.find(reference->getLocation()) > 2) w.callee = nullptr;
  if (w.callee != nullptr && !w.in_worker) to.index.entered.insert(w.callee->getCanonicalDecl());
  to.index.calls[open] = w;
}

}  // namespace

void record_call(const recording& to, const CallExpr* call, const function_info* function) {
  const token_index closing = to.of.find(call->getRParenLoc());
  // A call that desugaring inserted has the location of another token.
  if (closing == no_token || to.of.tokens[closing].isNot(tok::r_paren) || to.of.partner[closing] == no_token)
    return;
  const token_index open = to.of.partner[closing];
  to.index.all_calls[open] = call;
  const QualType callee = call->getCallee()->getType();
  if (is_closure_type(callee))
    record_closure_call(to, call, open, function);
  else if (is_worker_type(callee))
    record_worker_call(to, call, open, function);
}

void record_generic(const recording& to, const GenericSelectionExpr* e) {
  const token_index keyword = to.of.find(e->getBeginLoc());
  const token_index end = to.of.find(e->getEndLoc());
  if (keyword == no_token || end == no_token || e->isResultDependent()) return;
  bool workers = false;
  bool closures = false;
  for (const TypeSourceInfo* one : e->getAssocTypeSourceInfos()) {
    if (one == nullptr) continue;  // the type of `default`
    QualType type = one->getType();
    while (!type->getPointeeType().isNull() && type->getPointeeType()->isPointerType())
      type = type->getPointeeType();
    workers |= is_worker_type(type);
    closures |= is_closure_type(type);
  }
  const Expr* const result = e->getResultExpr();
  const token_range chosen{to.of.find(result->getBeginLoc()), to.of.find(result->getEndLoc()) + 1};
  if ((workers || closures) && chosen.begin != no_token && chosen.end != 0)
    to.index.generics.emplace(keyword, generic_choice{end + 1, chosen, closures});
}

void record_cast(const recording& to, const CStyleCastExpr* cast) {
  if (const token_index open = to.of.find(cast->getLParenLoc()); open != no_token)
    to.index.casts[open] = cast->getTypeAsWritten();
  if (!cast->getType()->isFunctionPointerType()) return;
  if (is_closure_type(cast->getSubExpr()->getType()) && !is_closure_type(cast->getType()))
    return to.index.casts_of_closures.push_back(cast->getBeginLoc());
  const Expr* from = cast->getSubExpr()->IgnoreParenImpCasts();
  if (const auto* address = dyn_cast<UnaryOperator>(from);
      address != nullptr && address->getOpcode() == UO_AddrOf)
    from = address->getSubExpr()->IgnoreParens();
  const bool from_worker = is_worker_type(cast->getSubExpr()->getType());
  if (from_worker == is_worker_type(cast->getType())) return;
  const auto* reference = dyn_cast<DeclRefExpr>(from);
  const auto* callee = reference == nullptr ? nullptr : dyn_cast<FunctionDecl>(reference->getDecl());
  if (!from_worker || callee == nullptr) {
    const QualType source = cast->getSubExpr()->getType();
    if (source->isFunctionPointerType())
      report_error(to.diagnostics, cast->getBeginLoc(),
                   from_worker
                       ? "a pointer to a worker function does not convert to a pointer to a plain one; "
                         "only the name of the function does"
                       : "a plain function does not convert to a pointer to a worker function; write a "
                         "worker function that calls it");
    return;
  }
  const token_index t = to.of.find(reference->getLocation());
  if (t == no_token) return;
  to.index.plain_entries.insert(t);
  to.index.entered.insert(callee->getCanonicalDecl());
}

void record_declarator(const recording& to, TypeLoc inner) {
  while (!inner.isNull() && inner.getAs<FunctionTypeLoc>().isNull()) inner = inner.getNextTypeLoc();
  if (inner.isNull()) return;
  const token_index open = to.of.find(inner.castAs<FunctionTypeLoc>().getLParenLoc());
  if (open == no_token) return;
  worker_declarator d{};
  const auto proto = inner.getAs<FunctionProtoTypeLoc>();
  d.empty = !proto.isNull() && proto.getNumParams() == 0 && !proto.getTypePtr()->isVariadic();
  d.void_token = no_token;
  d.has_prototype = !proto.isNull();
  for (token_index t = open + 1; d.empty && t < to.of.tokens.size() && t < to.of.partner[open]; ++t)
    if (to.of.tokens[t].is(tok::kw_void)) d.void_token = t;
  to.index.declarators[open] = d;
}

}  // namespace sukima::language
