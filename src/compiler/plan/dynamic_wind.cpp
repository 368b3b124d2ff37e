// SPDX-License-Identifier: Apache-2.0
// dynamic_wind: BEFORE and AFTER are printed in the function, and again as functions that the runtime calls.
#include "plan/constructs.hpp"

#include "plan/c_text.hpp"
#include "plan/names.hpp"
#include "plan/tokens.hpp"

namespace sukima::language {

using namespace clang;

namespace {

/// The functions that the runtime calls, without `static` and their bodies.
constexpr std::string_view before_function = "void $name$_before(void *sukima_r, int sukima_backtracking)";
constexpr std::string_view after_function = "void $name$_after(void *sukima_r, int sukima_backtracking)";
constexpr std::string_view sequential_after_function = "void $name$_after(void *sukima_r)";

/// Printed before the function.
constexpr std::string_view wind_kind = R"(
    static const sukima_kind $name$_kind = SUKIMA_WIND_KIND(struct $name$, $name$_before, $name$_after);

)";

/// Printed after BEFORE and the choice point. This poll answers no request; it only makes the choice point
/// known.
constexpr std::string_view wind_enter = "sukima_poll(&$point$->sukima_head);";
constexpr std::string_view sequential_wind_enter =
    "sukima_sequential_enter(&$point$->sukima_head, $name$_after);";

/// Printed before AFTER.
constexpr std::string_view sequential_wind_leave = "sukima_sequential_leave(&$point$->sukima_head);";

}  // namespace

void plan_dynamic_wind(planner& p, sheet& out, const construct& c, const context& scope) {
  out.token("{", true);
  plan_tokens(p, out, c.before, scope);
  out.text(" {");
  if (p.in.options.sequential) {
    const level l = begin_choice_point(p, out, c, {c.after}, "sukima_sequential", scope);
    const std::string name = base_name(scope) + "_" + number_of(c);
    context own = scope;
    outline_block(p, c_text(sequential_after_function, {{"name", name}}), c, l, c.after, scope, "", own);
    out.text(" " + c_text(sequential_wind_enter, {{"name", name}, {"point", l.choice_point}}) + " ");
    plan_tokens(p, out, c.first, inside_of(p.in, l, scope));
    out.text(" " + c_text(sequential_wind_leave, {{"point", l.choice_point}}) + " } ");
    plan_tokens(p, out, c.after, scope);
    out.text(" }");
    return;
  }
  const level l = begin_choice_point(p, out, c, {c.before, c.after}, "sukima_choice_point", scope);
  const std::string name = base_name(scope) + "_" + number_of(c);
  context own = scope;
  own.backtracking = "sukima_backtracking";
  for (const bool is_before : {true, false})
    outline_block(p, c_text(is_before ? before_function : after_function, {{"name", name}}), c, l,
                  is_before ? c.before : c.after, scope, " (void)sukima_backtracking;", own);
  p.out.before_function.text(c_text(wind_kind, {{"name", name}}));
  out.text(" " + c_text(wind_enter, {{"point", l.choice_point}}) + " ");
  plan_tokens(p, out, c.first, inside_of(p.in, l, scope));
  out.text(" } ");
  plan_tokens(p, out, c.after, scope);
  out.text(" }");
}

}  // namespace sukima::language
