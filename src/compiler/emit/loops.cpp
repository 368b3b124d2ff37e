// SPDX-License-Identifier: Apache-2.0
// The parallel for.
#include "emit/emitter.hpp"

namespace sukima::language {

using namespace clang;

namespace {

/// Functions that change nothing but what their first argument points to.
bool only_fills_its_first_argument(const FunctionDecl* callee) {
  if (callee == nullptr) return false;
  switch (callee->getMemoryFunctionKind()) {
    case Builtin::BImemcpy:
    case Builtin::BImempcpy:
    case Builtin::BImemmove:
    case Builtin::BImemset:
    case Builtin::BIbzero:
      return true;
    default:
      return false;
  }
}

/// The variable that an assignment changes a part of; null: it goes through a pointer.
const VarDecl* changed_variable(const Expr* target) {
  for (;;) {
    target = target->IgnoreParenImpCasts();
    if (const auto* member = dyn_cast<MemberExpr>(target); member != nullptr && !member->isArrow()) {
      target = member->getBase();
    } else if (const auto* element = dyn_cast<ArraySubscriptExpr>(target);
               element != nullptr && element->getBase()->IgnoreParenImpCasts()->getType()->isArrayType()) {
      target = element->getBase();
    } else {
      const auto* name = dyn_cast<DeclRefExpr>(target);
      return name == nullptr ? nullptr : dyn_cast<VarDecl>(name->getDecl());
    }
  }
}

}  // namespace

/// Whether a block changes nothing but its task and its own variables, as far as can be seen.
bool emitter::only_fills_its_task(token_range block) const {
  const auto is_own = [&](const VarDecl* variable) {
    if (variable == nullptr) return false;
    if (is_put_in(variable)) return variable->getName() == "this";
    const auto declared = index_.declared.find(variable);
    return declared != index_.declared.end() && block.holds(declared->second) && !variable->isStaticLocal();
  };
  for (token_index t = block.begin; t < block.end; ++t) {
    if (unit_.tokens[t].is(tok::kw_asm) || index_.closure_calls.contains(t) || closure_at_.contains(t))
      return false;
    if (const auto a = index_.assignments.find(t);
        a != index_.assignments.end() && !is_own(changed_variable(a->second->getLHS())))
      return false;
    if (unit_.tokens[t].isOneOf(tok::plusplus, tok::minusminus)) {
      const VarDecl* behind = variable_at(t + 1);
      const VarDecl* before = variable_at(t - 1);
      const bool is_name =
          behind != nullptr && !unit_.tokens[t + 2].isOneOf(tok::period, tok::arrow, tok::l_square);
      if (!is_own(is_name ? behind : before)) return false;
    }
    if (const auto call = index_.all_calls.find(t); call != index_.all_calls.end()) {
      if (!only_fills_its_first_argument(call->second->getDirectCallee())) return false;
      bool own = false;
      for (token_index k = t + 1; k < unit_.partner[t] && unit_.tokens[k].isNot(tok::comma); ++k)
        own = own || is_own(variable_at(k));
      if (!own) return false;
    }
  }
  return true;
}

/// Whether the poll of an iteration may wait for its call: there is one, which runs at most once an
/// iteration, and what is given away changes nothing that the body may have read before.
bool emitter::polls_at_its_call(const construct& c) const {
  for (const token_range& block : {c.put, c.guard, c.split})
    if (!only_fills_its_task(block)) return false;
  int calls = 0;
  for (token_index t = c.first.begin; t < c.first.end; ++t) {
    if (construct_at_.contains(t) || closure_at_.contains(t) || index_.closure_calls.contains(t))
      return false;
    if (unit_.tokens[t].isOneOf(tok::kw_for, tok::kw_while, tok::kw_do, tok::kw_goto)) return false;
    if (index_.calls.contains(t)) ++calls;
  }
  return calls == 1;
}

void emitter::loop(writer& out, const construct& c, const context& where) {
  const std::string number = std::to_string(c.number);
  const std::string i = "sukima_i" + number;
  const std::string end = "sukima_end" + number;
  const VarDecl* variable = variable_at(c.variable);
  const std::string user_variable = spelling(c.variable);
  const auto bind = [&](token_range block) {
    return variable != nullptr && uses(block, variable) ? " const int " + user_variable + " = " + i + ";"
                                                        : "";
  };
  out.token("{ int " + i + " = (" + text_of(c.from, where) + "); const int " + end + " = (" +
                text_of(c.to, where) + "); if (" + i + " < " + end + ") {",
            true);
  if (options_.sequential) {
    // Not a `for`: `continue` out of nested constructs must reach the end of the body by a jump.
    context body = where;
    level l{&c, "", {}, std::make_shared<const context>(where)};
    body.levels.push_back(l);
    out.text(" do { {" + bind(c.first) + " ");
    print(out, c.first, body);
    out.text(" }" + std::string(continued_.contains(&c) ? " sukima_continue" + number + ":;" : "") +
             " } while (++" + i + " < " + end + ");" + dead_blocks(c, where) + " }" +
             (broken_.contains(&c) ? " sukima_break" + number + ":;" : "") + " }");
    return;
  }
  need_task(c.task);
  std::vector<token_range> used{c.put};
  if (!c.guard.empty()) used.push_back(c.guard);
  if (!c.split.empty()) used.push_back(c.split);
  const level l = begin_record(out, c, used, "sukima_loop", where);
  const std::string name = base_name(where) + "_" + number;
  const std::string kind = put_function(c, l, where) + hint_functions(c, l, where);
  before_.text("static const sukima_kind " + name + "_kind = SUKIMA_LOOP_KIND(struct " + name + kind +
               ");\n");
  const std::string head = l.record + "->sukima_head";
  const std::string test = head + ".sukima_i = " + i + "; sukima_poll(&" + head + ".sukima_head);";
  context body = inside(l, where);
  if (polls_at_its_call(c)) {
    // The only call of the body polls for its iteration; one without a call is tested each 64th time.
    body.top = "__extension__({ " + test + " " + body.top + "; })";
    out.text(" " + head + ".sukima_end = " + end + "; do { if (!(" + i + " & 63)) { " + test + " } {" +
             bind(c.first) + " ");
  } else {
    out.text(" " + head + ".sukima_end = " + end + "; do { " + test + " {" + bind(c.first) + " ");
  }
  print(out, c.first, body);
  out.text(" }" + std::string(continued_.contains(&c) ? " sukima_continue" + number + ":;" : "") +
           " } while (++" + i + " < " + head + ".sukima_end); ");
  const std::string task = "sukima_t" + number;
  const std::string type = "struct " + task_type_name(c.task);
  // No declaration in the head of a `for`: C89 has none.
  out.text("if (sukima_was_split(&" + head + ".sukima_head)) { " + type + " *" + task + "; for (" + task +
           " = (" + type + " *)sukima_join(&" + head + ".sukima_head); " + task + "; " + task + " = (" +
           type + " *)sukima_next(" + task + ")) {" + bind(c.get) + " ");
  context get = where;
  bind_this(c.get, "(*" + task + ")", get);
  print(out, c.get, get);
  out.text(" } } }" + std::string(broken_.contains(&c) ? " sukima_break" + number + ":;" : "") + " }");
}

}  // namespace sukima::language
