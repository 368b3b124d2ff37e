// SPDX-License-Identifier: Apache-2.0
// goto out of a closure, to a label of the function around it. Where the closure comes to life, that function
// remembers its place as setjmp does, and where its records end; all its variables that may change are in
// memory from there on.
#include "emit/emitter.hpp"

namespace sukima::language {

using namespace clang;

/// The member of records and frames that holds the address of a label's place.
std::string emitter::exit_member(const LabelDecl* label) const {
  return "sukima_to_" + std::to_string(index_.all_labels.at(label));
}

/// Labels outside of a closure that gotos in it lead to, those of closures in it included.
std::vector<const LabelDecl*> emitter::labels_outside(const closure_declaration& c) const {
  std::vector<const LabelDecl*> result;
  for (const auto& [keyword, label] : index_.closure_jumps) {
    const auto place = index_.all_labels.find(label);
    if (!c.whole.holds(keyword) || place == index_.all_labels.end() || c.whole.holds(place->second)) continue;
    if (std::find(result.begin(), result.end(), label) == result.end()) result.push_back(label);
  }
  return result;
}

/// Is it the function in which the closure is declared that has the label?
bool emitter::waits_for(const LabelDecl* label, const closure_declaration& c) const {
  return index_.function_at(index_.all_labels.at(label)) == index_.function_at(c.whole.begin);
}

std::string emitter::exit_fields(const closure_declaration& c) const {
  std::string text;
  for (const LabelDecl* label : labels_outside(c))
    text += std::string(" ") + (options_.sequential ? "sukima_sequential_exit" : "sukima_exit") + " *" +
            exit_member(label) + ";";
  return text;
}

/// Variables of the function around a closure that may change until a goto leads back to it.
std::string emitter::keep_variables(const closure_declaration& c, const context& where) {
  std::string text;
  const function_info* const f = index_.function_at(c.whole.begin);
  // The body of a `try` is a function of its own: what it uses of the variables around it is in memory.
  const auto is_outside_of_body = [&](token_index declared) {
    return std::any_of(f->constructs.begin(), f->constructs.end(), [&](const construct* one) {
      return one->kind == construct_kind::try_catch && one->first.holds(c.whole) &&
             !one->first.holds(declared);
    });
  };
  for (const auto& [variable, declared] : index_.declared) {
    if (variable->isFileVarDecl() || !variable->hasLocalStorage() || is_put_in(variable) ||
        variable->getType().isConstQualified() || index_.closure_variables.contains(variable))
      continue;
    const bool is_own_parameter = !f->body.holds(declared) && f->whole.holds(declared);
    if (!is_own_parameter && (index_.function_at(declared) != f || c.whole.holds(declared))) continue;
    if (isa<ParmVarDecl>(variable) != (is_own_parameter && f->closure == nullptr)) continue;
    if (const auto* parameter = dyn_cast<ParmVarDecl>(variable);
        parameter != nullptr && parameter->getDeclContext() != f->declaration)
      continue;
    if (where.names.contains(variable) || is_outside_of_body(declared)) continue;  // in memory already
    const std::string keep = " SUKIMA_KEEP(" + variable->getNameAsString() + ");";
    if (is_own_parameter) {
      text += keep;
      continue;
    }
    // The bracket around the declaration: a block, or the head of a `for`.
    const token_index bracket = unit_.bracket_around(declared);
    token_range scope{bracket, unit_.partner[bracket] + 1};
    const bool in_head = unit_.tokens[bracket].is(tok::l_paren);
    if (in_head) {
      token_index body = scope.end;
      while (unit_.roles[body] == token_role::keyword) ++body;
      if (!unit_.tokens[body].is(tok::l_brace)) continue;
      scope.end = unit_.partner[body] + 1;
    }
    if (declared < c.whole.begin) {
      if (scope.holds(c.whole)) text += keep;
    } else if (!in_head) {
      after_declaration(declared, keep);
    }
  }
  return text;
}

/// Where a closure comes to life: the places that its gotos lead back to.
void emitter::begin_exits(writer& out, const closure_declaration& c, const std::string& record,
                          const context& where) {
  bool kept = false;
  for (const LabelDecl* label : labels_outside(c)) {
    const token_index place = index_.all_labels.at(label);
    const std::string member = record + "." + exit_member(label);
    if (!waits_for(label, c)) {
      const auto outer = where.exits_here.find(label);
      if (outer != where.exits_here.end()) out.text(" " + member + " = " + outer->second + ";");
      continue;
    }
    const std::string exit = record + "_" + exit_member(label);
    out.text(std::string(options_.sequential ? " sukima_sequential_exit " : " sukima_exit ") + exit + "; " +
             member + " = &" + exit + ";");
    if (!kept) out.text(keep_variables(c, where));
    kept = true;
    const std::string context_of = options_.sequential ? ".context" : ".sukima_context";
    if (options_.sequential)
      out.text(" sukima_sequential_exit_begin(&" + exit + ");");
    else
      out.text(" sukima_exit_begin(&" + exit + ", " + (where.top.empty() ? "0" : where.top) + ");");
    out.text(" if (sukima_set_exit(" + exit + context_of + ") != 0) ");
    const jump j{jump_kind::go_to, c.name_token, c.name_token, place, nullptr, label};
    if (leaves_something(j, where))
      print_jump(out, j, where);
    else
      out.text("goto " + label->getNameAsString() + ";");
  }
}

void emitter::print_closure_jump(writer& out, token_index keyword, const context& where) {
  go_to(out, unit_.tokens[keyword].getLocation());
  const LabelDecl* label = index_.closure_jumps.at(keyword);
  const auto exit = where.exits_here.find(label);
  if (exit == where.exits_here.end()) {
    report(unit_.tokens[keyword].getLocation(), "this 'goto' leads out of a closure, which cannot be here");
    return;
  }
  if (options_.sequential)
    out.token("sukima_sequential_exit_take(" + exit->second + ");", true);
  else  // a worker closure's own records are left first
    out.token(std::string(where.top.empty() ? "(" : "(sukima_leave_for_c(" + where.top + "), ") +
                  "sukima_exit_take(" + exit->second + ", __FILE__, __LINE__));",
              true);
}

/// Whether plain C that this function is can call something that nobody sees here, as a closure that jumps: a
/// function of another file, a worker function, or what a pointer leads to.
bool emitter::may_call_closures(const FunctionDecl* function) {
  const FunctionDecl* const definition = function->getDefinition();
  if (definition == nullptr || is_worker_type(function->getType())) return true;
  const auto [known, is_new] = may_call_closures_.emplace(definition, false);  // false: while it calls itself
  if (!is_new) return known->second;
  const function_info* const own = index_.function_at(unit_.find(definition->getBody()->getBeginLoc()));
  bool result = own == nullptr;
  for (const auto& [open, call] : index_.all_calls)
    if (!result && own->body.holds(open) && (!is_call_of_system(open) || hands_on_functions(call))) {
      const FunctionDecl* const callee = call->getDirectCallee();
      result = callee == nullptr || may_call_closures(callee);
    }
  return may_call_closures_[definition] = result;
}

bool emitter::is_call_of_system(token_index open) const {
  const auto is_there = [this](SourceLocation place) {
    return sources_.isInSystemHeader(sources_.getSpellingLoc(place));
  };
  const CallExpr* const call = index_.all_calls.at(open);
  const token_index first = unit_.find(call->getBeginLoc());
  if (first == no_token || is_there(unit_.tokens[first].getLocation())) return true;
  const FunctionDecl* const callee = call->getDirectCallee();
  return callee != nullptr && (callee->getBuiltinID() != 0 || is_there(callee->getLocation()));
}

/// As qsort, which calls what it is given.
bool emitter::hands_on_functions(const CallExpr* call) const {
  return std::any_of(call->arg_begin(), call->arg_end(),
                     [](const Expr* one) { return one->getType()->isFunctionPointerType(); });
}

/// Calls of plain C by a worker function from where a closure's goto may leave the function.
bool emitter::leaves_for_c(token_index open, const context& where) const {
  if (options_.sequential || where.top.empty() || where.function == nullptr || !where.function->is_worker)
    return false;
  if (const auto closure = index_.closure_calls.find(open); closure != index_.closure_calls.end())
    return !closure->second.is_worker;
  if (index_.calls.contains(open)) return false;
  const auto call = index_.all_calls.find(open);
  return call != index_.all_calls.end() && (!is_call_of_system(open) || hands_on_functions(call->second));
}

/// The calls of plain C by worker functions, and the calls of workers in their arguments. In a file without
/// closures only those that may reach one of another file.
void emitter::find_calls_of_c() {
  if (options_.sequential) return;
  const bool has_closures = !unit_.closures.empty() || !unit_.closure_types.empty();
  std::vector<token_range> arguments;
  for (const auto& [open, call] : index_.all_calls) {
    context where;
    where.function = index_.function_at(open);
    if (where.function == nullptr || !where.function->is_worker) continue;
    where.top = "sukima_top";
    if (!leaves_for_c(open, where)) continue;
    const FunctionDecl* const callee = call->getDirectCallee();
    if (!has_closures && callee != nullptr && !hands_on_functions(call) && !may_call_closures(callee))
      continue;
    arguments.push_back({open, unit_.partner[open]});
    if (!index_.closure_calls.contains(open)) calls_of_c_.emplace(unit_.find(call->getBeginLoc()), open);
  }
  for (const auto& [open, call] : index_.calls)
    for (const token_range& r : arguments)
      if (call.in_worker && r.holds(open) && r.begin != open) workers_in_arguments_[call.first] = open;
}

}  // namespace sukima::language
