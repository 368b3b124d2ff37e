// SPDX-License-Identifier: Apache-2.0
// do_two: a test, S1, and then either S2, or GET if another worker took S2.
#include "plan/constructs.hpp"

#include "plan/c_text.hpp"
#include "plan/captures.hpp"
#include "plan/cluster.hpp"
#include "plan/names.hpp"
#include "plan/tokens.hpp"

namespace sukima::language {

using namespace clang;

namespace {

/// Printed between S1 and S2: S2 runs here unless a thief took it.
constexpr std::string_view do_two_join = R"(
      $type$ *$task$;
      if (sukima_untouched(&$point$->sukima_head) ||
          !($task$ = ($type$ *)sukima_join(&$point$->sukima_head))) {
)";

constexpr std::string_view do_two_end = R"(
        sukima_free($task$);
      }
    }
)";

}  // namespace

void plan_do_two(planner& p, sheet& out, const construct& c, const context& scope) {
  if (p.in.options.sequential) {
    out.token("{", true);
    plan_tokens(p, out, c.first, scope);
    plan_tokens(p, out, c.second, scope);
    out.text(dead_blocks(p, c, scope) + " }");
    return;
  }
  if (scope.form == function_form::clone) {
    out.token("{", true);
    plan_tokens(p, out, c.first, scope);
    plan_tokens(p, out, c.second, scope);
    out.text(" }");
    return;
  }
  need_task(p, c.task);
  out.token("{", true);
  std::vector<token_range> used{c.put};
  if (!c.guard.empty()) used.push_back(c.guard);
  const level l = begin_choice_point(p, out, c, used, "sukima_choice_point", scope);
  const std::string name = base_name(scope) + "_" + number_of(c);
  const std::string functions = put_function(p, c, l, scope) + hint_functions(p, c, l, scope);
  print_kind(p, name, begin_kind(p, c, "DO_TWO"), functions);
  out.text(" sukima_poll(&" + l.choice_point + "->sukima_head); ");
  plan_tokens(p, out, c.first, inside_of(p.in, l, scope));
  const std::string task = "sukima_t" + number_of(c);
  const std::string type = "struct " + task_type_name(c.task);
  out.text(" ");
  out.text(c_text(do_two_join, {{"type", type}, {"task", task}, {"point", l.choice_point}}));
  // S2 reads unchanged variables from the choice point, so that one register less must be kept across S1.
  context second = scope;
  second.top = "(char *)" + l.choice_point;
  for (const captured& one : l.captures) {
    if (!one.by_value || !uses(p.in, c.second, one.variable) ||
        one.variable->getType()->isVariablyModifiedType())
      continue;
    out.text(bind_capture(p, one, l.choice_point, second));
  }
  out.text(" ");
  plan_tokens(p, out, c.second, second);
  out.text(" } else { ");
  context get = scope;
  bind_this(p.in, c.get, "(*" + task + ")", get);
  plan_tokens(p, out, c.get, get);
  out.text(" ");
  out.text(c_text(do_two_end, {{"task", task}}));
}

}  // namespace sukima::language
