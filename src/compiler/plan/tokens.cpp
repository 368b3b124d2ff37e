// SPDX-License-Identifier: Apache-2.0
#include "plan/tokens.hpp"

#include "plan/closures.hpp"
#include "plan/constructs.hpp"
#include "plan/exits.hpp"
#include "plan/macros.hpp"
#include "plan/names.hpp"
#include "plan/side_texts.hpp"
#include "plan/unwind.hpp"
#include "print/printer.hpp"

namespace sukima::language {

using namespace clang;

namespace {

/// Returns the edit of a token in a function that is unwound.
whole_edit unwound_at(const planner& p, token_index token, token_range range, const context& scope) {
  const unwind_version& v = *scope.version;
  if (const auto found = v.substitutes.find(token); found != v.substitutes.end()) {
    const std::pair<token_index, std::string>* longest = nullptr;
    for (const auto& one : found->second)
      if (one.first <= range.end && (longest == nullptr || one.first >= longest->first)) longest = &one;
    if (longest != nullptr) return substituted{longest->first, &longest->second};
  }
  if (const auto found = v.of->statements.find(token);
      found != v.of->statements.end() && found->second.whole.end <= range.end && scope.printed_now != token)
    return &found->second;
  if (const auto call = v.of->plain_calls.find(token);
      call != v.of->plain_calls.end() && call->second < range.end && !scope.begun.contains(token))
    return call_with_end{call->second};
  if (const auto j = p.in.index.jumps.find(token); j != p.in.index.jumps.end() &&
                                                   j->second.kind == jump_kind::next_iteration &&
                                                   v.continued.contains(j->second.target))
    return unwound_continue{&j->second};
  return {};
}

/// Returns the edit that replaces several tokens, beginning with this one, all of them in the range. The
/// first rule that applies wins.
whole_edit whole_at(const planner& p, token_index token, token_range range, const context& scope) {
  const plan_input& in = p.in;
  if (scope.version != nullptr)
    if (const whole_edit found = unwound_at(p, token, range, scope); found.index() != 0) return found;
  if (const auto moved = p.function.moved.find(token);
      moved != p.function.moved.end() && !scope.moving && moved->second.end <= range.end)
    return &moved->second;
  if (const auto found = in.construct_at.find(token);
      found != in.construct_at.end() && found->second->whole.end <= range.end)
    return found->second;
  if (const auto closure = in.closure_at.find(token);
      closure != in.closure_at.end() && closure->second->whole.end <= range.end)
    return closure->second;
  if (in.unit.roles[token] == token_role::keyword) return {};
  if (const auto placed = p.function.placed.find(token);
      placed != p.function.placed.end() && placed->second.end <= range.end)
    return &placed->second;
  if (const auto one = in.index.generics.find(token); one != in.index.generics.end() &&
                                                      one->second.end <= range.end &&
                                                      (one->second.is_for_closures || in.options.sequential))
    return chosen_value{&one->second};
  if (in.index.closure_jumps.contains(token)) return closure_exit{token};
  if (const auto call = in.workers_in_arguments.find(token);
      call != in.workers_in_arguments.end() && call->second < range.end && !scope.begun.contains(token))
    return call_with_end{call->second};
  if (const auto call = in.variadic_calls.find(token);
      call != in.variadic_calls.end() && call->second->open < range.end)
    return call->second;
  if (const auto j = in.index.jumps.find(token);
      j != in.index.jumps.end() && leaves_something(p, j->second, scope))
    return &j->second;
  return {};
}

}  // namespace

bool is_edited(const planner& p, token_index t, const context& scope) {
  const token_role role = p.in.unit.roles[t];
  if (role == token_role::parsed_only || role == token_role::added || role == token_role::keyword)
    return true;
  const token_range no_end{t, static_cast<token_index>(p.in.unit.tokens.size())};
  return whole_at(p, t, no_end, scope).index() != 0 || p.function.after_token.contains(t) ||
         p.function.after_variable.contains(t) || words_at(p, t, scope).has_value();
}

namespace {

/// Plans the replacement of several tokens.
class whole_planner {
 public:
  whole_planner(planner& p, sheet& out, token_index t, const context& scope)
      : p_(p), out_(out), t_(t), scope_(scope) {}

  // \returns the token after the replaced ones
  token_index operator()(std::monostate) const { return t_; }
  token_index operator()(const substituted& s) const {
    SUKIMA_ASSERT(scope_.version != nullptr,
                  "expressions are substituted in functions that are unwound only");
    out_.go_to(location());
    out_.token(*s.text, p_.in.unit.tokens[t_].hasLeadingSpace());
    return s.end;
  }
  token_index operator()(const unwind_statement* s) const {
    scope_.version->waiting.clear();
    unwound_statement(p_, out_, *s, scope_);
    scope_.version->waiting.clear();
    return s->whole.end;
  }
  token_index operator()(const unwound_continue& c) const {
    out_.go_to(location());
    out_.token("goto sukima_next_" + std::to_string(c.j->target) + ";", true);
    return c.j->end;
  }
  token_index operator()(const moved_text* moved) const {
    texts();
    out_.go_to(location());
    out_.token(moved->left, true);
    return moved->end;
  }
  token_index operator()(const construct* c) const {
    texts();
    plan_construct(p_, out_, *c, scope_);
    return c->whole.end;
  }
  token_index operator()(const closure_declaration* c) const {
    texts();
    plan_closure(p_, out_, *c, scope_);
    return c->whole.end;
  }
  token_index operator()(const placed_variable* one) const {
    texts();
    plan_placed(p_, out_, *one, scope_);
    return one->end;
  }
  token_index operator()(const closure_exit& exit) const {
    plan_closure_jump(p_.in, out_, exit.keyword, scope_);
    token_index end = exit.keyword;
    while (!p_.in.unit.tokens[end].is(tok::semi)) ++end;
    return end + 1;
  }
  token_index operator()(const chosen_value& value) const {
    texts();
    out_.token("(", true);
    plan_tokens(p_, out_, value.of->chosen, scope_);
    out_.text(")");
    return value.of->end;
  }
  token_index operator()(const call_with_end& call) const {
    context begun = scope_;
    begun.begun.insert(t_);
    const token_index end = p_.in.unit.partner[call.open] + 1;
    SUKIMA_ASSERT(begun.begun.size() == scope_.begun.size() + 1, "a call is not begun within itself");
    const bool has_value = !p_.in.index.all_calls.at(call.open)->getType()->isVoidType();
    out_.token(has_value ? "__extension__({ __auto_type sukima_v = " : "__extension__({ ", true);
    plan_tokens(p_, out_, {t_, end}, begun);
    if (scope_.version != nullptr)
      out_.text(std::string("; sukima_back_from_c(sukima_stack);") +
                (has_value ? " SUKIMA_VALUE(sukima_v) })" : " })"));
    else
      out_.text("; sukima_leave_for_c(" + scope_.top + ");" + (has_value ? " sukima_v; })" : " })"));
    return end;
  }
  token_index operator()(const closure_call* variadic) const {
    variadic_call(p_, out_, *variadic, scope_);
    return p_.in.unit.partner[variadic->open] + 1;
  }
  token_index operator()(const jump* j) const {
    texts();
    plan_jump(p_, out_, *j, scope_);
    return j->end;
  }

 private:
  SourceLocation location() const { return p_.in.unit.tokens[t_].getLocation(); }
  void texts() const {
    if (p_.in.unit.origins[t_] != no_token) side_texts(p_, out_, p_.in.unit.origins[t_], scope_);
  }

  planner& p_;
  sheet& out_;
  token_index t_;
  const context& scope_;
};

}  // namespace

void plan_token(planner& p, token_run& run, token_index position, const context& scope) {
  const Token& token = p.in.unit.tokens[position];
  edit e;
  if (!token.isAnnotation() && token.isNot(tok::eof)) {
    if (p.in.unit.origins[position] != no_token) side_texts(p, e.before, p.in.unit.origins[position], scope);
    if (const auto words = words_at(p, position, scope)) {
      if (words->empty())
        e.change = left_out{};
      else
        e.change = reworded{resolved(p, *words)};
    }
  }
  if (const auto more = p.function.after_token.find(position); more != p.function.after_token.end())
    e.after = more->second;
  if (const auto more = p.function.after_variable.find(position); more != p.function.after_variable.end())
    e.after += joined(more->second);
  const bool is_kept = std::holds_alternative<kept>(e.change) && e.before.steps().empty() && e.after.empty();
  SUKIMA_ASSERT(!run.edits.contains(position), "each token has at most one edit");
  if (!is_kept) run.edits.emplace(position, std::move(e));
}

namespace {

/// Plans the edit of one token, or of several tokens beginning with it. \returns the next token
token_index plan_step(planner& p, run_plan& plan, token_index token, const context& scope) {
  token_run& run = plan.run;
  const token_role role = p.in.unit.roles[token];
  if (role == token_role::parsed_only || role == token_role::system || role == token_role::pragma) {
    run.edits.emplace(token, edit{{}, left_out{}, {}});
    return token + 1;
  }
  if (const whole_edit whole = whole_at(p, token, run.tokens, scope); whole.index() != 0) {
    replaced one{token, {}};
    // The semicolon of a jump in a macro's argument is the macro's own, behind the argument.
    one.end = std::min(std::visit(whole_planner(p, one.by, token, scope), whole), run.tokens.end);
    const token_index end = one.end;
    SUKIMA_ASSERT(!run.edits.contains(token), "each token has at most one edit");
    run.edits.emplace(token, edit{{}, std::move(one), {}});
    return end;
  }
  if (role == token_role::keyword) {
    run.edits.emplace(token, edit{{}, left_out{}, {}});
    return token + 1;
  }
  if (p.in.unit.tokens[token].getLocation().isMacroID() && role == token_role::user)
    return plan_macro(p, plan, token, scope);
  plan_token(p, run, token, scope);
  return token + 1;
}

}  // namespace

void plan_tokens(planner& p, sheet& out, token_range range, const context& scope) {
  run_plan plan{{range, {}}, {}, {}};
  for (token_index t = range.begin; t < range.end;) {
    sheet before = texts_of_copy(p, plan, t, scope);
    const token_index next = plan_step(p, plan, t, scope);
    SUKIMA_ASSERT(next > t && next <= range.end, "each step plans tokens of its range");
    if (!before.steps().empty()) {
      sheet& own = plan.run.edits[t].before;
      if (!own.steps().empty()) before.append(std::move(own));
      own = std::move(before);
    }
    t = next;
  }
  out.tokens(std::move(plan.run));
}

std::string text_of(planner& p, token_range range, const context& scope) {
  context copy = scope;
  copy.is_only_text = !scope.is_copy || scope.is_only_text;
  copy.is_copy = copy.on_one_line = true;
  sheet one;
  SUKIMA_ASSERT(range.begin <= range.end && range.end <= p.in.unit.tokens.size(), "a text is of tokens");
  plan_tokens(p, one, range, copy);
  return print_on_one_line(p.in.compiler, p.in.unit, one);
}

}  // namespace sukima::language
