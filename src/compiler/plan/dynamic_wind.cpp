// SPDX-License-Identifier: Apache-2.0
// dynamic_wind: BEFORE and AFTER are printed in the function, and once more as functions that the runtime
// calls.
#include "plan/constructs.hpp"

#include "plan/names.hpp"
#include "plan/tokens.hpp"

namespace sukima::language {

using namespace clang;

void plan_dynamic_wind(planner& p, sheet& out, const construct& c, const context& where) {
  out.token("{", true);
  plan_tokens(p, out, c.before, where);
  out.text(" {");
  if (p.in.options.sequential) {
    const level l = begin_choice_point(p, out, c, {c.after}, "sukima_sequential", where);
    const std::string name = base_name(where) + "_" + number_of(c);
    context own = where;
    outline_block(p, "void " + name + "_after(void *sukima_r)", c, l, c.after, where, "", own);
    out.text(" sukima_sequential_enter(&" + l.choice_point + "->sukima_head, " + name + "_after); ");
    plan_tokens(p, out, c.first, inside_of(p.in, l, where));
    out.text(" sukima_sequential_leave(&" + l.choice_point + "->sukima_head); } ");
    plan_tokens(p, out, c.after, where);
    out.text(" }");
    return;
  }
  const level l = begin_choice_point(p, out, c, {c.before, c.after}, "sukima_choice_point", where);
  const std::string name = base_name(where) + "_" + number_of(c);
  context own = where;
  own.backtracking = "sukima_backtracking";
  for (const bool is_before : {true, false})
    outline_block(
        p, "void " + name + (is_before ? "_before" : "_after") + "(void *sukima_r, int sukima_backtracking)",
        c, l, is_before ? c.before : c.after, where, " (void)sukima_backtracking;", own);
  p.out.before.text("static const sukima_kind " + name + "_kind = SUKIMA_WIND_KIND(struct " + name + ", " +
                    name + "_before, " + name + "_after);\n");
  // No poll: the fiber only learns that there is a choice point.
  out.text(" sukima_poll(&" + l.choice_point + "->sukima_head); ");
  plan_tokens(p, out, c.first, inside_of(p.in, l, where));
  out.text(" } ");
  plan_tokens(p, out, c.after, where);
  out.text(" }");
}

}  // namespace sukima::language
