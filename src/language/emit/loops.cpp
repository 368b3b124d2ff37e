// SPDX-License-Identifier: Apache-2.0
// The parallel for.
#include "emit/emitter.hpp"

namespace sukima::language {

using namespace clang;

/// Whether the poll of an iteration may wait for its call: there is one, which runs at most once an
/// iteration.
bool emitter::polls_at_its_call(const construct& c) const {
  int calls = 0;
  for (token_index t = c.first.begin; t < c.first.end; ++t) {
    if (construct_at_.contains(t) || closure_at_.contains(t) || facts_.closure_calls.contains(t))
      return false;
    if (unit_.tokens[t].isOneOf(tok::kw_for, tok::kw_while, tok::kw_do, tok::kw_goto)) return false;
    if (facts_.calls.contains(t)) ++calls;
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
  const std::string test = head + ".sukima_i = " + i + "; sukima_test(&" + head + ".sukima_head);";
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
