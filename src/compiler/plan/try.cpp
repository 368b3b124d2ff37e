// SPDX-License-Identifier: Apache-2.0
// try, catch and throw. The body is a function of its own, called through the runtime, so that no function
// returns twice.
#include "plan/constructs.hpp"

#include "plan/c_text.hpp"
#include "plan/captures.hpp"
#include "plan/closures.hpp"
#include "plan/exits.hpp"
#include "plan/names.hpp"
#include "plan/tokens.hpp"
#include "plan/types.hpp"

namespace sukima::language {

using namespace clang;

namespace {

/// Printed before the function: the frame with the function's variables that the body uses.
constexpr std::string_view try_frame = R"(
    struct $name$_frame {$members$ };

)";

/// If plain C is between a throw and the try, worker functions must have noted where their choice points end.
constexpr std::string_view try_notes = R"(
    extern int sukima_exits_used;
    __attribute__((constructor)) static void sukima_begin_notes(void) {
      __atomic_store_n(&sukima_exits_used, 1, __ATOMIC_RELAXED);
    }

)";

constexpr std::string_view try_body_prototype = R"(
    static int $name$_body(char *sukima_top, void *sukima_frame);

)";

constexpr std::string_view try_body_begin = R"(
    static int $name$_body(char *sukima_top, void *sukima_frame) {
      struct $name$_frame *const $frame$ = (struct $name$_frame *)sukima_frame;
      (void)sukima_top;
      (void)$frame$;
)";

/// The statement, which first fills in the frame.
constexpr std::string_view try_begin = R"(
    {
      const sukima_size sukima_tag$number$ = (sukima_size)$tag$;
      struct $name$_frame $frame$;$stores$
)";

/// The call of the body. The statement of `catch` comes next.
constexpr std::string_view try_call = R"(
      sukima_try_point *const $point$ = (sukima_try_point *)(void *)$top$;
      $point$->sukima_head.sukima_kind_or_child = (sukima_word)&sukima_try_kind;
      $point$->sukima_tag = sukima_tag$number$;
      sukima_poll(&$point$->sukima_head);
      const int $code$ = sukima_try($point$, $name$_body, &$frame$, (char *)($point$ + 1));
      if ($code$ == SUKIMA_THROWN)
)";

constexpr std::string_view sequential_try_call = R"(
      const int $code$ = sukima_sequential_try(sukima_tag$number$, $name$_body, &$frame$);
      if ($code$ == SUKIMA_THROWN)
)";

constexpr std::string_view throw_statement = R"(
    {
      const sukima_size sukima_tag = (sukima_size)($tag$);
      sukima_throw($top$, sukima_tag, __FILE__, __LINE__);
    }
)";

constexpr std::string_view sequential_throw_statement = R"(
    { sukima_sequential_throw((sukima_size)($tag$), __FILE__, __LINE__); }
)";

/// Plans the body as a function over a frame, which holds the outer variables that the body uses.
void plan_body(planner& p, const construct& c, const std::vector<captured>& captures, const context& scope,
               body_exits& exits) {
  const std::string number = std::to_string(c.number);
  const std::string name = base_name(scope) + "_" + number;
  const std::string frame = "sukima_f" + number;
  context body = scope;
  body.levels.clear();
  body.exits = &exits;
  body.is_copy = true;  // it is printed after the function
  if (!p.in.options.sequential) body.top = "sukima_top";
  exits.frame = frame;
  SUKIMA_ASSERT(!p.function.bodies.contains(&c), "the body of a 'try' is not within itself");
  p.function.bodies[&c] = &exits;
  sheet text;
  text.go_to(c.location, false);
  text.text(c_text(try_body_begin, {{"name", name}, {"frame", frame}}));
  for (const captured& one : captures) text.text(bind_capture(p, one, frame, body));
  text.text(local_prototypes(p, {c.first}));
  for (auto& [label, exit] : body.exits_here) exit = frame + "->" + exit_member(p.in, label);
  text.text(" ");
  plan_tokens(p, text, c.first, body);
  text.text(" return 0; }\n");
  p.out.before_function.text(c_text(try_body_prototype, {{"name", name}}));
  p.out.after_function.append(text);
}

}  // namespace

void plan_try(planner& p, sheet& out, const construct& c, const context& scope) {
  const std::string number = std::to_string(c.number);
  const std::string name = base_name(scope) + "_" + number;
  const std::string frame = "sukima_frame" + number;
  const std::string code = "sukima_code" + number;
  context no_levels = scope;
  no_levels.levels.clear();  // the frame holds all variables
  const std::vector<captured> captures = captures_of(p, c, {c.first}, no_levels);
  const QualType result = scope.function->result;
  std::string members = capture_fields(p, captures);
  if (!result->isVoidType()) members += " " + declare_unqualified(p, result, "sukima_result") + ";";
  std::string exit_stores;
  for (const auto& [label, exit] : scope.exits_here) {
    members += std::string(p.in.options.sequential ? " sukima_sequential_exit *" : " sukima_exit *") +
               exit_member(p.in, label) + ";";
    exit_stores.append(" ").append(frame).append(".").append(exit_member(p.in, label));
    exit_stores.append(" = ").append(exit).append(";");
  }
  if (members.empty()) members = " char sukima_none;";
  p.out.before_function.text(c_text(try_frame, {{"name", name}, {"members", members}}));
  if (!p.in.options.sequential && p.names.declared.insert("notes of a try").second)
    p.out.before_function.text(c_text(try_notes, {}));
  body_exits exits;
  plan_body(p, c, captures, scope, exits);
  const std::string tag = text_of(p, c.from, scope);
  const std::string stores = fill_captures(p, "(&" + frame + ")", captures, scope) + exit_stores;
  out.token(c_text(try_begin,
                   {{"name", name}, {"number", number}, {"tag", tag}, {"frame", frame}, {"stores", stores}}),
            true);
  out.text(" ");
  out.text(c_text(p.in.options.sequential ? sequential_try_call : try_call, {{"name", name},
                                                                             {"number", number},
                                                                             {"frame", frame},
                                                                             {"code", code},
                                                                             {"point", "sukima_r" + number},
                                                                             {"top", scope.top}}));
  out.text(" ");
  plan_tokens(p, out, c.second, scope);
  for (std::size_t k = 0; k < exits.jumps.size(); ++k) {
    const jump& j = exits.jumps[k];
    SUKIMA_ASSERT(c.first.holds(j.keyword), "the exits of a body are jumps in it");
    out.text(" else if (" + code + " == " + std::to_string(k + 1) + ") ");
    const std::string value =
        j.kind == jump_kind::leave_function && !result->isVoidType() ? frame + ".sukima_result" : "";
    if (leaves_something(p, j, scope) || j.kind != jump_kind::leave_function) {
      plan_jump(p, out, j, scope, value);
    } else {
      out.text("return" + (value.empty() ? "" : " " + value) + ";");
    }
  }
  out.text(" }");
  p.function.bodies.erase(&c);
}

void plan_throw(planner& p, sheet& out, const construct& c, const context& scope) {
  const std::string tag = text_of(p, c.from, scope);
  out.token(c_text(p.in.options.sequential ? sequential_throw_statement : throw_statement,
                   {{"tag", tag}, {"top", scope.top}}),
            true);
}

}  // namespace sukima::language
