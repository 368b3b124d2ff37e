// SPDX-License-Identifier: Apache-2.0
// The statements of a function that is unwound. Each call becomes a statement of its own, so that the slow
// version can continue after it. Declarations of variables in the frame become assignments.
#include "plan/unwind.hpp"

#include "plan/names.hpp"
#include "plan/side_texts.hpp"
#include "plan/tokens.hpp"
#include "plan/types.hpp"

namespace sukima::language {

using namespace clang;

namespace {

/// Returns the label before the next iteration if `continue` is a goto.
std::string next_label(const plan_input& in, token_range loop, const context& scope) {
  for (token_index t = loop.begin; t < loop.end; ++t)
    if (const auto j = in.index.jumps.find(t);
        j != in.index.jumps.end() && in.index.function_at(t) == scope.version->of->function &&
        j->second.kind == jump_kind::next_iteration && j->second.target == loop.begin)
      return "sukima_next_" + std::to_string(loop.begin) + ":;";
  return "";
}

void leave_loop_unless(planner& p, sheet& out, const Expr* condition, const context& scope) {
  hoist(p, out, condition, scope);
  out.text(" if (!(");
  plan_tokens(p, out, p.in.unwinding->tokens_of(condition), scope);
  out.text(")) break;");
  scope.version->waiting.clear();
}

/// Stores the initial value of a variable in the frame.
void store_initial(planner& p, sheet& out, const VarDecl* variable, const context& scope) {
  const Expr* value = variable->getInit();
  const std::string place = "sukima_r->" + scope.version->of->members.at(variable);
  const token_range tokens = p.in.unwinding->tokens_of(value);
  if (variable->getType()->isScalarType() && !isa<InitListExpr>(value)) {
    out.text(" " + place + " = ");
    plan_tokens(p, out, tokens, scope);
    out.text(";");
    return;
  }
  out.text(" { " + declare(p, variable->getType(), "sukima_initial") + " = ");
  plan_tokens(p, out, tokens, scope);
  out.text("; __builtin_memcpy(&" + place + ", &sukima_initial, sizeof sukima_initial); }");
}

/// \param whole  including the semicolon
void unwound_declaration(planner& p, sheet& out, const DeclStmt* declaration, token_range whole,
                         const context& scope) {
  const unwind_version& v = *scope.version;
  bool as_written = !v.slow;
  for (const Decl* d : declaration->decls())
    if (const auto* variable = dyn_cast<VarDecl>(d); variable != nullptr && variable->hasLocalStorage())
      as_written &= !v.of->in_frame.contains(variable) && variable->hasInit();
  as_written &= declaration->isSingleDecl() || !p.in.unwinding->holds_call(declaration);
  if (as_written) {
    if (p.in.unwinding->holds_call(declaration))
      hoist(p, out, cast<VarDecl>(declaration->getSingleDecl())->getInit(), scope);
    out.text(" ");
    // Prevents another lookup of the statement, which would find this one again.
    context inside = scope;
    inside.printed_now = whole.begin;
    plan_tokens(p, out, whole, inside);
    return;
  }
  for (const Decl* d : declaration->decls()) {
    const auto* variable = dyn_cast<VarDecl>(d);
    if (variable == nullptr || !variable->hasLocalStorage()) {
      if (variable != nullptr || isa<FunctionDecl>(d))
        report(p.in, d->getLocation(),
               "'" + cast<NamedDecl>(d)->getNameAsString() +
                   "' shares its declaration with a variable; declare it on its own, or "
                   "compile with -fclosures=frame");
      continue;
    }
    const Expr* value = variable->getInit();
    const QualType type = variable->getType();
    hoist(p, out, value, scope);
    try {
      if (v.slow || v.of->in_frame.contains(variable)) {
        if (value == nullptr) continue;
        store_initial(p, out, variable, scope);
      } else {
        const std::string none = type->isScalarType() ? "0" : "{0}";
        out.text(" " + declare(p, type, variable->getNameAsString()) + " = ");
        if (value != nullptr)
          plan_tokens(p, out, p.in.unwinding->tokens_of(value), scope);
        else
          out.text(none);
        out.text(";");
      }
    } catch (const unprintable_type& problem) {
      report(p.in, d->getLocation(),
             "'" + variable->getNameAsString() + "' cannot be stored in a frame: " + problem.reason +
                 "; compile with -fclosures=frame");
    }
  }
}

void unwound_for(planner& p, sheet& out, const ForStmt* loop, token_range whole, const context& scope) {
  const token_index open = whole.begin + 1;
  const token_index close = p.in.unit.find(loop->getRParenLoc());
  const auto* init = dyn_cast_or_null<DeclStmt>(loop->getInit());
  const token_index first = init != nullptr              ? p.in.unwinding->end_of(init)
                            : loop->getInit() != nullptr ? p.in.unwinding->end_of(loop->getInit())
                                                         : open + 2;
  const bool taken_apart =
      p.in.unwinding->holds_call(loop->getCond()) || p.in.unwinding->holds_call(loop->getInc());
  out.token("{ ", true);
  if (init != nullptr) {
    unwound_declaration(p, out, init, {open + 1, first}, scope);
  } else if (const auto* e = dyn_cast_or_null<Expr>(loop->getInit())) {
    hoist(p, out, e, scope);
    out.text(" ");
    plan_tokens(p, out, {open + 1, first}, scope);
  }
  scope.version->waiting.clear();
  out.go_to(p.in.unit.tokens[whole.begin].getLocation());
  if (!taken_apart) {
    out.token("for (; ", true);
    plan_tokens(p, out, {first, close + 1}, scope);
    plan_tokens(p, out, {close + 1, whole.end}, scope);
    out.text(" }");
    return;
  }
  out.token("for (;;) { ", true);
  if (loop->getCond() != nullptr) leave_loop_unless(p, out, loop->getCond(), scope);
  scope.version->continued.insert(whole.begin);
  plan_tokens(p, out, {close + 1, whole.end}, scope);
  out.text(" " + next_label(p.in, whole, scope) + " ");
  if (loop->getInc() != nullptr) {
    scope.version->waiting.clear();
    hoist(p, out, loop->getInc(), scope);
    out.text(" (void)(");
    plan_tokens(p, out, p.in.unwinding->tokens_of(loop->getInc()), scope);
    out.text(");");
  }
  out.text(" } }");
}

void unwound_leave(planner& p, sheet& out, const unwind_statement& statement, const context& scope) {
  const unwound& u = *scope.version->of;
  const token_range value{statement.whole.begin + 1, statement.whole.end - 1};
  out.token("{ ", true);
  if (statement.value != nullptr) hoist(p, out, statement.value, scope);
  out.text(" ");
  const bool is_void = u.result->isVoidType();
  const std::string nothing =
      !scope.version->slow && p.in.options.land_closures ? "return; }" : "return 0; }";
  if (statement.value == nullptr) {
    out.text(nothing);
    return;
  }
  if (is_void)
    out.text("(void)(");
  else if (scope.version->slow)
    out.text(declare_unqualified(p, u.result, "sukima_result") + " = ");
  else
    out.text("return ");
  plan_tokens(p, out, value, scope);
  if (is_void)
    out.text("); " + nothing);
  else if (scope.version->slow)
    out.text("; *(" + pointer_to(p, u.result) + ")(void *)sukima_r = sukima_result; return 0; }");
  else
    out.text("; }");
}

}  // namespace

void unwound_statement(planner& p, sheet& out, const unwind_statement& rewritten, const context& scope) {
  using form = unwind_statement::form;
  if (p.in.unit.origins[rewritten.whole.begin] != no_token)
    side_texts(p, out, p.in.unit.origins[rewritten.whole.begin], scope);
  out.go_to(p.in.unit.tokens[rewritten.whole.begin].getLocation());
  switch (rewritten.kind) {
    case form::expression: {
      const auto* e = cast<Expr>(rewritten.statement);
      out.token("{ ", true);
      hoist(p, out, e, scope);
      const auto* call = dyn_cast<CallExpr>(e->IgnoreParens());
      const bool whole_call = call != nullptr && p.in.unwinding->unwinds(call);
      if (!whole_call) {
        out.text(" ");
        plan_tokens(p, out, p.in.unwinding->tokens_of(e), scope);
        out.text("; }");
      } else {
        out.text(call->getType()->isVoidType()
                     ? " }"
                     : " (void)" + value_name(scope.version->values, scope) + "; }");
      }
      break;
    }
    case form::declaration:
      unwound_declaration(p, out, cast<DeclStmt>(rewritten.statement), rewritten.whole, scope);
      break;
    case form::leave:
      unwound_leave(p, out, rewritten, scope);
      break;
    case form::choice: {
      const auto* one = cast<IfStmt>(rewritten.statement);
      out.token("{ ", true);
      hoist(p, out, one->getCond(), scope);
      out.text(" ");
      plan_tokens(p, out, {rewritten.whole.begin, p.in.unit.find(one->getRParenLoc()) + 1}, scope);
      scope.version->waiting.clear();
      plan_tokens(p, out, {p.in.unit.find(one->getRParenLoc()) + 1, rewritten.whole.end}, scope);
      out.text(" }");
      break;
    }
    case form::selection: {
      const auto* one = cast<SwitchStmt>(rewritten.statement);
      out.token("{ ", true);
      hoist(p, out, one->getCond(), scope);
      out.text(" ");
      context inside = scope;
      inside.printed_now = rewritten.whole.begin;
      plan_tokens(p, out, rewritten.whole, inside);
      out.text(" }");
      break;
    }
    case form::while_loop: {
      const auto* one = cast<WhileStmt>(rewritten.statement);
      out.token("for (;;) { ", true);
      leave_loop_unless(p, out, one->getCond(), scope);
      plan_tokens(p, out, {p.in.unit.find(one->getRParenLoc()) + 1, rewritten.whole.end}, scope);
      out.text(" }");
      break;
    }
    case form::do_loop: {
      const auto* one = cast<DoStmt>(rewritten.statement);
      scope.version->continued.insert(rewritten.whole.begin);
      out.token("for (;;) { ", true);
      plan_tokens(p, out, {rewritten.whole.begin + 1, p.in.unwinding->end_of(one->getBody())}, scope);
      out.text(" " + next_label(p.in, rewritten.whole, scope) + " ");
      leave_loop_unless(p, out, one->getCond(), scope);
      out.text(" }");
      break;
    }
    case form::for_loop:
      unwound_for(p, out, cast<ForStmt>(rewritten.statement), rewritten.whole, scope);
      break;
  }
}

}  // namespace sukima::language
