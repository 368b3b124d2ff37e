// SPDX-License-Identifier: Apache-2.0
// goto out of a closure, to a label of the function around it. Where the closure is created, that function
// remembers its place as setjmp does, and where its choice points end; all its variables that may change are
// in memory from there on.
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
  for (const auto& [keyword, label] : in.index.closure_jumps) {
    const auto place = in.index.all_labels.find(label);
    if (!c.whole.holds(keyword) || place == in.index.all_labels.end() || c.whole.holds(place->second))
      continue;
    if (std::find(result.begin(), result.end(), label) == result.end()) result.push_back(label);
  }
  return result;
}

namespace {

/// Is it the function in which the closure is declared that has the label?
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

/// Variables of the function around a closure that may change until a goto leads back to it.
std::string keep_variables(planner& p, const closure_declaration& c, const context& where) {
  std::string text;
  const function_info* const f = p.in.index.function_at(c.whole.begin);
  // The body of a `try` is a function of its own: what it uses of the variables around it is in memory.
  const auto is_outside_of_body = [&](token_index declared) {
    return std::any_of(f->constructs.begin(), f->constructs.end(), [&](const construct* one) {
      return one->kind == construct_kind::try_catch && one->first.holds(c.whole) &&
             !one->first.holds(declared);
    });
  };
  for (const auto& [variable, declared] : p.in.index.declared) {
    if (variable->isFileVarDecl() || !variable->hasLocalStorage() || is_put_in(p.in, variable) ||
        variable->getType().isConstQualified() || p.in.index.closure_variables.contains(variable))
      continue;
    const bool is_own_parameter = !f->body.holds(declared) && f->whole.holds(declared);
    if (!is_own_parameter && (p.in.index.function_at(declared) != f || c.whole.holds(declared))) continue;
    if (isa<ParmVarDecl>(variable) != (is_own_parameter && f->closure == nullptr)) continue;
    if (const auto* parameter = dyn_cast<ParmVarDecl>(variable);
        parameter != nullptr && parameter->getDeclContext() != f->declaration)
      continue;
    if (where.names.contains(variable) || is_outside_of_body(declared)) continue;  // in memory already
    const std::string keep = " sukima_keep(&" + variable->getNameAsString() + ");";
    if (is_own_parameter) {
      text += keep;
      continue;
    }
    // The bracket around the declaration: a block, or the head of a `for`.
    const token_index bracket = p.in.unit.bracket_around(declared);
    token_range scope{bracket, p.in.unit.partner[bracket] + 1};
    const bool in_head = p.in.unit.tokens[bracket].is(tok::l_paren);
    if (in_head) {
      token_index body = scope.end;
      while (p.in.unit.roles[body] == token_role::keyword) ++body;
      if (!p.in.unit.tokens[body].is(tok::l_brace)) continue;
      scope.end = p.in.unit.partner[body] + 1;
    }
    if (declared < c.whole.begin) {
      if (scope.holds(c.whole)) text += keep;
    } else if (!in_head) {
      // Apart from what it stores then: its name's token tells.
      set_after_declaration(p, c.name_token, declared, keep);
    }
  }
  return text;
}

}  // namespace

void begin_exits(planner& p, sheet& out, const closure_declaration& c, const std::string& frame,
                 const context& where) {
  bool kept = false;
  for (const LabelDecl* label : labels_outside(p.in, c)) {
    const token_index place = p.in.index.all_labels.at(label);
    const std::string member = frame + "." + exit_member(p.in, label);
    if (!waits_for(p.in, label, c)) {
      const auto outer = where.exits_here.find(label);
      if (outer != where.exits_here.end()) out.text(" " + member + " = " + outer->second + ";");
      continue;
    }
    const std::string exit = frame + "_" + exit_member(p.in, label);
    out.text(std::string(p.in.options.sequential ? " sukima_sequential_exit " : " sukima_exit ") + exit +
             "; " + member + " = &" + exit + ";");
    if (!kept) out.text(keep_variables(p, c, where));
    kept = true;
    const std::string context_of = p.in.options.sequential ? ".context" : ".sukima_context";
    if (p.in.options.sequential)
      out.text(" sukima_sequential_exit_begin(&" + exit + ");");
    else
      out.text(" sukima_exit_begin(&" + exit + ", " + (where.top.empty() ? "0" : where.top) + ");");
    out.text(" if (sukima_set_exit(" + exit + context_of + ") != 0) ");
    const jump j{jump_kind::go_to, c.name_token, c.name_token, place, nullptr, label};
    if (leaves_something(p, j, where))
      plan_jump(p, out, j, where);
    else
      out.text("goto " + label->getNameAsString() + ";");
  }
}

void plan_closure_jump(const plan_input& in, sheet& out, token_index keyword, const context& where) {
  out.go_to(in.unit.tokens[keyword].getLocation());
  const LabelDecl* label = in.index.closure_jumps.at(keyword);
  const auto exit = where.exits_here.find(label);
  if (exit == where.exits_here.end()) {
    report(in, in.unit.tokens[keyword].getLocation(), "this 'goto' cannot leave the closure here");
    return;
  }
  if (in.options.sequential)
    out.token("sukima_sequential_exit_take(" + exit->second + ");", true);
  else  // a worker closure's own frames are left first
    out.token(std::string(where.top.empty() ? "(" : "(sukima_leave_for_c(" + where.top + "), ") +
                  "sukima_exit_take(" + exit->second + ", __FILE__, __LINE__));",
              true);
}

}  // namespace sukima::language
