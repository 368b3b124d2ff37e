// SPDX-License-Identifier: Apache-2.0
// A goto out of a closure, to a label of the surrounding function. When that function creates the closure, it
// saves its place as setjmp does, and the end of its choice points. From then on, all its variables that may
// change are in memory. It saves the place again after each later declaration that is visible at the label.
#include "plan/closures.hpp"

#include "plan/exits.hpp"
#include "plan/names.hpp"
#include "plan/tokens.hpp"

namespace sukima::language {

using namespace clang;

std::string exit_member(const plan_input& in, const LabelDecl* label) {
  return "sukima_to_" + std::to_string(in.index.all_labels.at(label));
}

std::vector<const LabelDecl*> labels_outside(const plan_input& in, const closure_declaration& c) {
  std::vector<const LabelDecl*> result;
  const auto first = in.index.closure_jumps.lower_bound(c.whole.begin);
  const auto behind = in.index.closure_jumps.lower_bound(c.whole.end);
  for (const auto& [keyword, label] : std::ranges::subrange(first, behind)) {
    const auto place = in.index.all_labels.find(label);
    if (place == in.index.all_labels.end() || c.whole.holds(place->second)) continue;
    if (std::find(result.begin(), result.end(), label) == result.end()) result.push_back(label);
  }
  return result;
}

namespace {

/// Returns whether the function that declares the closure has the label.
bool waits_for(const plan_input& in, const LabelDecl* label, const closure_declaration& c) {
  return in.index.function_at(in.index.all_labels.at(label)) == in.index.function_at(c.whole.begin);
}

}  // namespace

std::string exit_fields(const plan_input& in, const closure_declaration& c) {
  std::string text;
  for (const LabelDecl* label : labels_outside(in, c))
    text += std::string(" ") + (in.options.sequential ? "sukima_sequential_exit" : "sukima_exit") + " *" +
            exit_member(in, label) + ";";
  return text;
}

namespace {

/// Returns the declaration at which a closure's lifetime begins: the forward declaration, if there is one.
const closure_declaration& declared_first(const closure_declaration& c) {
  return c.forward != nullptr ? *c.forward : c;
}

/// Returns the block after the head of a `for`, possibly after other heads; no_token: another token follows.
token_index block_behind(const unit& u, token_index t) {
  for (; t < u.tokens.size(); ++t) {
    if (u.roles[t] == token_role::keyword ||
        u.tokens[t].isOneOf(tok::kw_if, tok::kw_for, tok::kw_while, tok::kw_switch, tok::kw_do))
      continue;
    if (u.tokens[t].isNot(tok::l_paren)) return u.tokens[t].is(tok::l_brace) ? t : no_token;
    t = u.partner[t];
  }
  return no_token;
}

/// Returns the bracket of the scope of a variable: that of a block or of the head of a `for`. It skips those
/// of declarators such as `(*p)(int)`. no_token: there is no such bracket.
token_index bracket_of_scope(const unit& u, token_index declared) {
  if (u.is_in_parameters_of_closure(declared)) return no_token;
  token_index bracket = u.opened[declared];
  while (bracket != no_token && u.tokens[bracket].isNot(tok::l_brace) &&
         (bracket == 0 || u.tokens[bracket - 1].isNot(tok::kw_for)))
    bracket = u.opened[bracket];
  return bracket;
}

/// Returns the tokens from this bracket to the end of the variable's scope; empty: the scope is unknown.
token_range scope_of(const unit& u, token_index declared) {
  const token_index bracket = bracket_of_scope(u, declared);
  if (bracket == no_token) return {};
  if (u.tokens[bracket].is(tok::l_brace)) return {bracket, u.partner[bracket] + 1};
  const token_index block = block_behind(u, u.partner[bracket] + 1);
  return block == no_token ? token_range{} : token_range{bracket, u.partner[block] + 1};
}

std::string keep(const VarDecl* variable) { return " sukima_keep(&" + variable->getNameAsString() + ");"; }

/// Returns the innermost block of a construct around a closure that also becomes a function of its own, so
/// that only the variables which the block uses exist there; empty: there is none.
token_range side_block_around(const function_info& f, token_range closure) {
  token_range innermost{};
  for (const construct* one : f.constructs)
    for (const token_range& block : {one->put, one->get, one->before, one->after})
      if (block.holds(closure) && (innermost.empty() || innermost.holds(block))) innermost = block;
  return innermost;
}

/// Returns whether no code changes the variable, so that it needs no copy.
bool is_constant(const plan_input& in, const VarDecl* variable) {
  return variable->getType().isConstQualified() || in.index.closure_variables.contains(variable);
}

/// Keeps the variables of the function around a closure that may change before a goto leads back to it.
std::string keep_variables(planner& p, const closure_declaration& c, const context& scope) {
  std::string text;
  const token_index birth = declared_first(c).whole.begin;
  const function_info* const f = p.in.index.function_at(c.whole.begin);
  const token_range block = side_block_around(*f, c.whole);
  // The body of a `try` is a function of its own, so the surrounding variables that it uses are in memory.
  const auto is_outside_of_body = [&](token_index declared) {
    return std::any_of(f->constructs.begin(), f->constructs.end(), [&](const construct* one) {
      return one->kind == construct_kind::try_catch && one->first.holds(c.whole) &&
             !one->first.holds(declared);
    });
  };
  for (const auto& [variable, declared] : p.in.index.declared) {
    if (variable->isFileVarDecl() || !variable->hasLocalStorage() || is_put_in(p.in, variable) ||
        is_constant(p.in, variable) || variable->hasAttr<AsmLabelAttr>())
      continue;
    const bool is_own_parameter = !f->body.holds(declared) && f->whole.holds(declared);
    if (!is_own_parameter && (p.in.index.function_at(declared) != f || c.whole.holds(declared))) continue;
    if (isa<ParmVarDecl>(variable) != (is_own_parameter && f->closure == nullptr)) continue;
    if (const auto* parameter = dyn_cast<ParmVarDecl>(variable);
        parameter != nullptr && parameter->getDeclContext() != f->declaration)
      continue;
    if (scope.names.contains(variable) || is_outside_of_body(declared)) continue;  // it is already in memory
    if (!block.empty() && !block.holds(declared) && !uses(p.in, block, variable)) continue;
    if (is_own_parameter || (declared < birth && scope_of(p.in.unit, declared).holds(birth)))
      text += keep(variable);
  }
  return text;
}

/// Returns the variables that are declared during the closure's lifetime and that are visible at a label.
std::vector<const VarDecl*> declared_between(const plan_input& in, const closure_declaration& c,
                                             token_index label, const context& scope) {
  const token_range birth = declared_first(c).whole;
  const token_range block = in.unit.block_around(birth.begin);
  std::vector<const VarDecl*> result;
  for (const auto& [variable, declared] : in.index.declared)
    if (declared >= birth.end && declared < label && block.holds(declared) && !c.whole.holds(declared) &&
        variable->hasLocalStorage() && !isa<ParmVarDecl>(variable) && !is_put_in(in, variable) &&
        !variable->hasAttr<AsmLabelAttr>() && !scope.names.contains(variable) &&
        !in.unit.is_in_parameters_of_closure(declared) &&
        in.index.function_at(declared) == in.index.function_at(birth.begin) &&
        scope_of(in.unit, declared).holds(label))
      result.push_back(variable);
  return result;
}

/// Adds text after the declaration of a variable and all stores of closures there.
void put_behind(planner& p, const closure_declaration& c, const VarDecl* variable, const std::string& text) {
  const unit& u = p.in.unit;
  const token_index declared = p.in.index.declared.at(variable);
  const token_index last = static_cast<token_index>(u.tokens.size()) + c.name_token;
  const token_index bracket = bracket_of_scope(u, declared);
  if (u.tokens[bracket].is(tok::l_brace)) {
    set_after_declaration(p, last, declared, text);
    return;
  }
  const token_index block = block_behind(u, u.partner[bracket] + 1);
  const token_range labels = label_declarations(p.in, block + 1);
  p.function.after_variable[labels.empty() ? block : labels.end - 1][{last, declared}] = text;
}

}  // namespace

void begin_exits(planner& p, sheet& out, const closure_declaration& c, const std::string& frame,
                 const context& scope) {
  std::vector<std::pair<jump, std::string>> ways;  // with the condition that saves the place
  for (const LabelDecl* label : labels_outside(p.in, c)) {
    const token_index place = p.in.index.all_labels.at(label);
    const std::string member = frame + "." + exit_member(p.in, label);
    if (!waits_for(p.in, label, c)) {
      const auto outer = scope.exits_here.find(label);
      if (outer != scope.exits_here.end()) out.text(" " + member + " = " + outer->second + ";");
      continue;
    }
    const std::string exit = frame + "_" + exit_member(p.in, label);
    out.text(std::string(p.in.options.sequential ? " sukima_sequential_exit " : " sukima_exit ") + exit +
             "; " + member + " = &" + exit + ";");
    const std::string context_of = p.in.options.sequential ? ".context" : ".sukima_context";
    if (p.in.options.sequential)
      out.text(" sukima_sequential_exit_begin(&" + exit + ");");
    else
      out.text(" sukima_exit_begin(&" + exit + ", " + (scope.top.empty() ? "0" : scope.top) + ");");
    ways.emplace_back(jump{jump_kind::go_to, c.name_token, c.name_token, place, nullptr, label},
                      " if (sukima_set_exit(" + exit + context_of + ") != 0) ");
  }
  if (ways.empty()) return;
  out.text(" sukima_keep(&" + frame + ");" + keep_variables(p, c, scope));
  std::map<const VarDecl*, std::string> again;
  for (const auto& [leaves, take] : ways) {
    out.text(take);
    if (leaves_something(p, leaves, scope)) {
      plan_jump(p, out, leaves, scope);
      continue;
    }
    // The C compiler sees that this goto passes all declarations up to the label, and clang then assumes
    // arbitrary values for their variables. So the place is saved again after each declaration. C allows no
    // goto past a declaration of variable length, and clang no goto past a clean-up.
    const std::string go_on = "goto " + leaves.label->getNameAsString() + ";";
    const std::vector<const VarDecl*> between = declared_between(p.in, c, leaves.target, scope);
    token_index barrier = 0;
    for (const VarDecl* variable : between)
      if (variable->getType()->isVariablyModifiedType() || variable->hasAttr<CleanupAttr>())
        barrier = std::max(barrier, p.in.index.declared.at(variable));
    for (const VarDecl* variable : between)
      if (p.in.index.declared.at(variable) >= barrier) again[variable] += take + go_on;
    out.text(barrier == 0 ? go_on : "__builtin_trap();");
  }
  for (const auto& [variable, text] : again)
    put_behind(p, c, variable, (is_constant(p.in, variable) ? "" : keep(variable)) + text);
}

void plan_closure_jump(const plan_input& in, sheet& out, token_index keyword, const context& scope) {
  out.go_to(in.unit.tokens[keyword].getLocation());
  const LabelDecl* label = in.index.closure_jumps.at(keyword);
  const auto exit = scope.exits_here.find(label);
  if (exit == scope.exits_here.end()) {
    report(in, in.unit.tokens[keyword].getLocation(), "this 'goto' cannot leave the closure here");
    return;
  }
  if (in.options.sequential)
    out.token("sukima_sequential_exit_take(" + exit->second + ");", true);
  else  // a worker closure must first leave its own frames
    out.token(std::string(scope.top.empty() ? "(" : "(sukima_leave_for_c(" + scope.top + "), ") +
                  "sukima_exit_take(" + exit->second + ", __FILE__, __LINE__));",
              true);
}

}  // namespace sukima::language
