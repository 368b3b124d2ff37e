// SPDX-License-Identifier: Apache-2.0
// The statements of a function that is unwound: calls stand in statements of their own, so that the slow
// version can go on behind them; where variables live in the record, their declarations are assignments.
#include "emit/emitter.hpp"
#include "emit/types.hpp"

namespace sukima::language {

using namespace clang;

/// What stands for the tokens from `t` on. \returns where the next ones are; `t`: print this one as it is
token_index emitter::print_unwound(writer& out, token_index t, token_range range, const context& where) {
  unwind_version& v = *where.version;
  if (const auto found = v.substitutes.find(t); found != v.substitutes.end()) {
    const std::pair<token_index, std::string>* longest = nullptr;
    for (const auto& one : found->second)
      if (one.first <= range.end && (longest == nullptr || one.first >= longest->first)) longest = &one;
    if (longest != nullptr) {
      go_to(out, unit_.tokens[t].getLocation());
      out.token(longest->second, unit_.tokens[t].hasLeadingSpace());
      return longest->first;
    }
  }
  if (const auto found = v.of->statements.find(t);
      found != v.of->statements.end() && found->second.whole.end <= range.end && where.printed_now != t) {
    v.waiting.clear();
    unwound_statement(out, found->second, where);
    v.waiting.clear();
    return found->second.whole.end;
  }
  if (const auto j = index_.jumps.find(t); j != index_.jumps.end() &&
                                           j->second.kind == jump_kind::next_iteration &&
                                           v.continued.contains(j->second.target)) {
    go_to(out, unit_.tokens[t].getLocation());
    out.token("goto sukima_next_" + std::to_string(j->second.target) + ";", true);
    return j->second.end;
  }
  return t;
}

void emitter::unwound_statement(writer& out, const unwind_statement& s, const context& where) {
  using form = unwind_statement::form;
  if (unit_.origins[s.whole.begin] != no_token) print_texts(out, unit_.origins[s.whole.begin], where);
  go_to(out, unit_.tokens[s.whole.begin].getLocation());
  switch (s.kind) {
    case form::expression: {
      const auto* e = cast<Expr>(s.statement);
      out.token("{ ", true);
      hoist(out, e, where);
      const auto* call = dyn_cast<CallExpr>(e->IgnoreParens());
      const bool whole_call = call != nullptr && plan_->unwinds(call);
      if (!whole_call) {
        out.text(" ");
        print(out, plan_->tokens_of(e), where);
        out.text("; }");
      } else {
        out.text(call->getType()->isVoidType()
                     ? " }"
                     : " (void)" + value_name(where.version->values, where) + "; }");
      }
      break;
    }
    case form::declaration:
      unwound_declaration(out, cast<DeclStmt>(s.statement), s.whole, where);
      break;
    case form::leave:
      unwound_leave(out, s, where);
      break;
    case form::choice: {
      const auto* one = cast<IfStmt>(s.statement);
      out.token("{ ", true);
      hoist(out, one->getCond(), where);
      out.text(" ");
      print(out, {s.whole.begin, unit_.find(one->getRParenLoc()) + 1}, where);
      where.version->waiting.clear();
      print(out, {unit_.find(one->getRParenLoc()) + 1, s.whole.end}, where);
      out.text(" }");
      break;
    }
    case form::selection: {
      const auto* one = cast<SwitchStmt>(s.statement);
      out.token("{ ", true);
      hoist(out, one->getCond(), where);
      out.text(" ");
      context inside = where;
      inside.printed_now = s.whole.begin;
      print(out, s.whole, inside);
      out.text(" }");
      break;
    }
    case form::while_loop: {
      const auto* one = cast<WhileStmt>(s.statement);
      out.token("for (;;) { ", true);
      leave_loop_unless(out, one->getCond(), where);
      print(out, {unit_.find(one->getRParenLoc()) + 1, s.whole.end}, where);
      out.text(" }");
      break;
    }
    case form::do_loop: {
      const auto* one = cast<DoStmt>(s.statement);
      where.version->continued.insert(s.whole.begin);
      out.token("for (;;) { ", true);
      print(out, {s.whole.begin + 1, plan_->end_of(one->getBody())}, where);
      out.text(" " + next_label(s.whole, where) + " ");
      leave_loop_unless(out, one->getCond(), where);
      out.text(" }");
      break;
    }
    case form::for_loop:
      unwound_for(out, cast<ForStmt>(s.statement), s.whole, where);
      break;
  }
}

/// The label in front of the next iteration, where `continue` is a goto.
std::string emitter::next_label(token_range loop, const context& where) const {
  for (token_index t = loop.begin; t < loop.end; ++t)
    if (const auto j = index_.jumps.find(t);
        j != index_.jumps.end() && index_.function_at(t) == where.version->of->function &&
        j->second.kind == jump_kind::next_iteration && j->second.target == loop.begin)
      return "sukima_next_" + std::to_string(loop.begin) + ":;";
  return "";
}

void emitter::leave_loop_unless(writer& out, const Expr* condition, const context& where) {
  hoist(out, condition, where);
  out.text(" if (!(");
  print(out, plan_->tokens_of(condition), where);
  out.text(")) break;");
  where.version->waiting.clear();
}

void emitter::unwound_for(writer& out, const ForStmt* s, token_range whole, const context& where) {
  const token_index open = whole.begin + 1;
  const token_index close = unit_.find(s->getRParenLoc());
  const auto* init = dyn_cast_or_null<DeclStmt>(s->getInit());
  const token_index first = init != nullptr           ? plan_->end_of(init)
                            : s->getInit() != nullptr ? plan_->end_of(s->getInit())
                                                      : open + 2;
  const bool taken_apart = plan_->holds_call(s->getCond()) || plan_->holds_call(s->getInc());
  out.token("{ ", true);
  if (init != nullptr) {
    unwound_declaration(out, init, {open + 1, first}, where);
  } else if (const auto* e = dyn_cast_or_null<Expr>(s->getInit())) {
    hoist(out, e, where);
    out.text(" ");
    print(out, {open + 1, first}, where);
  }
  where.version->waiting.clear();
  go_to(out, unit_.tokens[whole.begin].getLocation());
  if (!taken_apart) {
    out.token("for (; ", true);
    print(out, {first, close + 1}, where);
    print(out, {close + 1, whole.end}, where);
    out.text(" }");
    return;
  }
  out.token("for (;;) { ", true);
  if (s->getCond() != nullptr) leave_loop_unless(out, s->getCond(), where);
  where.version->continued.insert(whole.begin);
  print(out, {close + 1, whole.end}, where);
  out.text(" " + next_label(whole, where) + " ");
  if (s->getInc() != nullptr) {
    where.version->waiting.clear();
    hoist(out, s->getInc(), where);
    out.text(" (void)(");
    print(out, plan_->tokens_of(s->getInc()), where);
    out.text(");");
  }
  out.text(" } }");
}

/// \param whole  with the semicolon
void emitter::unwound_declaration(writer& out, const DeclStmt* s, token_range whole, const context& where) {
  const unwind_version& v = *where.version;
  bool as_written = !v.slow;
  for (const Decl* d : s->decls())
    if (const auto* variable = dyn_cast<VarDecl>(d); variable != nullptr && variable->hasLocalStorage())
      as_written &= !v.of->in_record.contains(variable) && variable->hasInit();
  as_written &= s->isSingleDecl() || !plan_->holds_call(s);
  if (as_written) {
    if (plan_->holds_call(s)) hoist(out, cast<VarDecl>(s->getSingleDecl())->getInit(), where);
    out.text(" ");
    // Without looking for the statement again, which this is.
    context inside = where;
    inside.printed_now = whole.begin;
    print(out, whole, inside);
    return;
  }
  for (const Decl* d : s->decls()) {
    const auto* variable = dyn_cast<VarDecl>(d);
    if (variable == nullptr || !variable->hasLocalStorage()) {
      if (variable != nullptr || isa<FunctionDecl>(d))
        report(d->getLocation(),
               "'" + cast<NamedDecl>(d)->getNameAsString() +
                   "' shares its declaration with a variable; write one of its own for it, or "
                   "compile with -fclosures=frame");
      continue;
    }
    const Expr* value = variable->getInit();
    const QualType type = variable->getType();
    hoist(out, value, where);
    try {
      if (v.slow || v.of->in_record.contains(variable)) {
        if (value == nullptr) continue;
        store_initial(out, variable, where);
      } else {
        const std::string none = type->isScalarType() ? "0" : "{0}";
        out.text(" " + declare(type, variable->getNameAsString()) + " = ");
        if (value != nullptr)
          print(out, plan_->tokens_of(value), where);
        else
          out.text(none);
        out.text(";");
      }
    } catch (const unprintable_type& problem) {
      report(d->getLocation(), "'" + variable->getNameAsString() + "' cannot be stored in a record: " +
                                   problem.reason + "; compile with -fclosures=frame");
    }
  }
}

/// A variable in the record gets its initial value.
void emitter::store_initial(writer& out, const VarDecl* variable, const context& where) {
  const Expr* value = variable->getInit();
  const std::string place = "sukima_r->" + where.version->of->members.at(variable);
  const token_range tokens = plan_->tokens_of(value);
  if (variable->getType()->isScalarType() && !isa<InitListExpr>(value)) {
    out.text(" " + place + " = ");
    print(out, tokens, where);
    out.text(";");
    return;
  }
  out.text(" { " + declare(variable->getType(), "sukima_initial") + " = ");
  print(out, tokens, where);
  out.text("; __builtin_memcpy(&" + place + ", &sukima_initial, sizeof sukima_initial); }");
}

void emitter::unwound_leave(writer& out, const unwind_statement& s, const context& where) {
  const unwound& u = *where.version->of;
  const token_range value{s.whole.begin + 1, s.whole.end - 1};
  out.token("{ ", true);
  if (s.value != nullptr) hoist(out, s.value, where);
  out.text(" ");
  const bool is_void = u.result->isVoidType();
  const std::string nothing = !where.version->slow && options_.land_closures ? "return; }" : "return 0; }";
  if (s.value == nullptr) {
    out.text(nothing);
    return;
  }
  if (is_void)
    out.text("(void)(");
  else if (where.version->slow)
    out.text(declare_unqualified(u.result, "sukima_result") + " = ");
  else
    out.text("return ");
  print(out, value, where);
  if (is_void)
    out.text("); " + nothing);
  else if (where.version->slow)
    out.text("; *(" + pointer_to(u.result) + ")(void *)sukima_r = sukima_result; return 0; }");
  else
    out.text("; }");
}

}  // namespace sukima::language
