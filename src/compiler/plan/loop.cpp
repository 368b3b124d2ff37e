// SPDX-License-Identifier: Apache-2.0
// The parallel for.
#include "plan/constructs.hpp"

#include "plan/c_text.hpp"
#include "plan/captures.hpp"
#include "plan/clones.hpp"
#include "plan/cluster.hpp"
#include "plan/names.hpp"
#include "plan/polls.hpp"
#include "plan/tokens.hpp"

namespace sukima::language {

using namespace clang;

namespace {

/// The declarations before the iterations.
constexpr std::string_view loop_begin = R"(
    {
      int $i$ = ($from$);
      const int $end$ = ($to$);
      if ($i$ < $end$) {
)";

constexpr std::string_view successor_loop_begin = R"(
    {
      $variable$ = ($from$);
      if ($condition$) {
)";

/// Printed around the body in the sequential translation. It is not a `for`, because `continue` out of nested
/// constructs must jump to the end of the body.
constexpr std::string_view sequential_body_begin = "do { {$binding$";
constexpr std::string_view sequential_body_end = R"(
        }$continue$
        } while ($advance$);$dead$
      }$break$
    }
)";

/// The poll of an iteration.
constexpr std::string_view iteration_poll = R"(
          $head$.$current$;
          sukima_poll(&$head$.sukima_head);
)";

/// Printed around the body of a parallel loop.
constexpr std::string_view body_begin = R"(
        $head$.sukima_end = $end$;
        do {
          $poll$
          {$binding$
)";

/// The same if the only call of the body polls for its iteration. Every 64th iteration without a call polls.
constexpr std::string_view body_with_call_begin = R"(
        $head$.sukima_end = $end$;
        do {
          if (!($i$ & 63)) { $poll$ }
          {$binding$
)";

constexpr std::string_view successor_body_begin = R"(
        do {
          $poll$
          {$binding$
)";

constexpr std::string_view body_end = R"(
          }$continue$
        } while ($more$);
)";

/// Conditions that another iteration belongs to this worker.
constexpr std::string_view more_iterations = "++$i$ < $head$.sukima_end";
constexpr std::string_view more_successors = R"(
    $advance$ && !(sukima_was_split(&$head$.sukima_head) && (sukima_word)$i$ == $head$.sukima_end)
)";

/// Printed before GET, for the task of each child. There is no declaration in the head of the `for`, because
/// C89 does not allow one.
constexpr std::string_view get_begin = R"(
        if (sukima_was_split(&$head$.sukima_head)) {
          $type$ *$task$;
          for ($task$ = ($type$ *)sukima_join(&$head$.sukima_head); $task$;
               $task$ = ($type$ *)sukima_next($task$)) {$binding$
)";

constexpr std::string_view get_end = R"(
          }
        }
      }$break$
    }
)";

/// Printed around the body of a clone's loop. The parallel loop with the rest of the iterations follows.
constexpr std::string_view clone_body_begin = R"(
        int $wanted$ = 0;
        do {
          if ($now$$poll$) {
            $wanted$ = 1;
            break;
          }
          {$binding$
)";

constexpr std::string_view clone_body_end = R"(
          }$continue$
        } while ($advance$);
        if ($wanted$) { {
)";

constexpr std::string_view clone_loop_end = R"(
      }$break$
    }
)";

/// The names used in the C of a parallel loop.
struct loop_names {
  std::string number, i, end;
  const VarDecl* variable;  ///< the user's variable
  std::string binding;  ///< its declaration, with the value of `i`
};

/// Declares the user's variable at the start of a block that uses it.
std::string bind_variable(const plan_input& in, const loop_names& names, token_range block) {
  return names.variable != nullptr && uses(in, block, names.variable) ? " " + names.binding : "";
}

/// Returns an expression of the head of a loop by successor, in which the variable has the value of `i`.
std::string head_value(planner& p, const loop_names& names, token_range expression, const context& scope) {
  const std::string value = "(" + text_of(p, expression, scope) + ")";
  const std::string binding = bind_variable(p.in, names, expression);
  return binding.empty() ? value : "__extension__({" + binding + " " + value + "; })";
}

/// Returns an expression that advances to the next iteration, and that is true if there is one. It ignores
/// iterations that were split off.
std::string advance(planner& p, const construct& c, const loop_names& names, const context& scope) {
  if (c.next.empty()) return "++" + names.i + " < " + names.end;
  return "(" + names.i + " = " + head_value(p, names, c.next, scope) + ", (_Bool)" +
         head_value(p, names, c.condition, scope) + ")";
}

/// Returns the label of the next iteration if the body uses it.
std::string continue_label(const planner& p, const construct& c, const context& scope) {
  return p.function.continued.contains(&c) ? " sukima_continue" + number_of(c) + scope.form_suffix + ":;"
                                           : "";
}

/// Returns the label after the loop if the body uses it.
std::string break_label(const planner& p, const construct& c, const context& scope) {
  return p.function.broken.contains(&c) ? " sukima_break" + number_of(c) + scope.form_suffix + ":;" : "";
}

void plan_sequential_loop(planner& p, sheet& out, const construct& c, const loop_names& names,
                          const context& scope) {
  context body = scope;
  body.levels.push_back({&c, "", {}, std::make_shared<const context>(scope)});
  out.text(" " + c_text(sequential_body_begin, {{"binding", bind_variable(p.in, names, c.first)}}) + " ");
  plan_tokens(p, out, c.first, body);
  const std::string next = advance(p, c, names, scope);
  out.text(" " + c_text(sequential_body_end, {{"continue", continue_label(p, c, scope)},
                                              {"advance", next},
                                              {"dead", dead_blocks(p, c, scope)},
                                              {"break", break_label(p, c, scope)}}));
}

/// Plans the iterations, each with its poll.
void plan_iterations(planner& p, sheet& out, const construct& c, const level& l, const loop_names& names,
                     const context& scope) {
  const std::string head = l.choice_point + "->sukima_head";
  const bool by_successor = !c.next.empty();
  const std::string current =
      by_successor ? "sukima_current = (sukima_word)" + names.i : "sukima_i = " + names.i;
  const std::string poll = c_text(iteration_poll, {{"head", head}, {"current", current}});
  context body = inside_of(p.in, l, scope);
  std::string_view begin = by_successor ? successor_body_begin : body_begin;
  if (!by_successor && polls_at_its_call(p.in, c)) {
    body.top = "__extension__({ " + poll + " " + body.top + "; })";
    begin = body_with_call_begin;
  }
  out.text(" ");
  out.text(c_text(begin, {{"head", head},
                          {"end", names.end},
                          {"i", names.i},
                          {"poll", poll},
                          {"binding", bind_variable(p.in, names, c.first)}}));
  out.text(" ");
  plan_tokens(p, out, c.first, body);
  const std::string next = by_successor ? advance(p, c, names, scope) : "";
  const std::string more = c_text(by_successor ? more_successors : more_iterations,
                                  {{"head", head}, {"i", names.i}, {"advance", next}});
  out.text(" " + c_text(body_end, {{"continue", continue_label(p, c, scope)}, {"more", more}}) + " ");
}

/// Plans GET for the task of each child.
void plan_loop_end(planner& p, sheet& out, const construct& c, const level& l, const loop_names& names,
                   const context& scope) {
  const std::string head = l.choice_point + "->sukima_head";
  const std::string task = "sukima_t" + names.number;
  const std::string type = "struct " + task_type_name(c.task);
  const std::string binding = bind_variable(p.in, names, c.get);
  out.text(c_text(get_begin, {{"head", head}, {"type", type}, {"task", task}, {"binding", binding}}) + " ");
  context get = scope;
  bind_this(p.in, c.get, "(*" + task + ")", get);
  plan_tokens(p, out, c.get, get);
  out.text(" " + c_text(get_end, {{"break", break_label(p, c, scope)}}));
}

/// Plans a parallel loop: a loop that begins while no worker is idle, or the rest of a loop that a clone has
/// begun.
void plan_parallel_loop(planner& p, sheet& out, const construct& c, const loop_names& names,
                        const context& scope) {
  need_task(p, c.task);
  std::vector<token_range> used{c.put};
  if (!c.guard.empty()) used.push_back(c.guard);
  if (!c.split.empty()) used.push_back(c.split);
  const bool by_successor = !c.next.empty();
  if (by_successor) used.insert(used.end(), {c.condition, c.next});
  const level l =
      begin_choice_point(p, out, c, used, by_successor ? "sukima_successor_loop" : "sukima_loop", scope);
  const std::string name = base_name(scope) + "_" + names.number;
  const std::string successor = by_successor ? successor_function(p, c, l, scope) : "";
  const std::string functions = successor + put_function(p, c, l, scope) + hint_functions(p, c, l, scope);
  print_kind(p, name, begin_kind(p, c, by_successor ? "SUCCESSOR_LOOP" : "LOOP"), functions);
  plan_iterations(p, out, c, l, names, scope);
  plan_loop_end(p, out, c, l, names, scope);
}

/// Plans a loop that polls, and that continues as the parallel loop if another worker wants work.
void plan_clone_loop(planner& p, sheet& out, const construct& c, const loop_names& names,
                     const context& scope) {
  const std::string wanted = "sukima_wanted" + names.number;
  // If the iteration calls a clone that polls, that call polls for it.
  const std::string now =
      c.next.empty() && calls_a_polling_clone(p.in, c.first) ? "!(" + names.i + " & 63) && " : "";
  context body = scope;
  body.levels.push_back({&c, "", {}, std::make_shared<const context>(scope)});
  body.has_polled = polls_for_its_calls(p.in, c);
  out.text(" ");
  out.text(c_text(clone_body_begin, {{"wanted", wanted},
                                     {"now", now},
                                     {"poll", clone_poll(scope)},
                                     {"binding", bind_variable(p.in, names, c.first)}}));
  out.text(" ");
  plan_tokens(p, out, c.first, body);
  const std::string next = advance(p, c, names, scope);
  out.text(" ");
  out.text(c_text(clone_body_end,
                  {{"continue", continue_label(p, c, scope)}, {"advance", next}, {"wanted", wanted}}));
  plan_parallel_loop(p, out, c, names, context_of_rest(p, c.first, scope));
  out.text(" " + c_text(clone_loop_end, {{"break", break_label(p, c, scope)}}));
}

void plan_any_loop(planner& p, sheet& out, const construct& c, const loop_names& names,
                   const context& scope) {
  if (p.in.options.sequential) return plan_sequential_loop(p, out, c, names, scope);
  if (scope.form == function_form::clone) return plan_clone_loop(p, out, c, names, scope);
  plan_parallel_loop(p, out, c, names, scope);
}

}  // namespace

void plan_loop(planner& p, sheet& out, const construct& c, const context& scope) {
  SUKIMA_ASSERT(c.kind == construct_kind::loop, "a loop has iterations");
  const std::string number = std::to_string(c.number);
  const std::string i = "sukima_i" + number;
  const VarDecl* const variable = variable_at(p.in, c.variable);
  const std::string name = spelling(p.in, c.variable);
  const std::string from = text_of(p, c.from, scope);
  if (c.next.empty()) {
    const loop_names names{number, i, "sukima_end" + number, variable, "const int " + name + " = " + i + ";"};
    const std::string to = text_of(p, c.to, scope);
    out.token(c_text(loop_begin, {{"i", i}, {"from", from}, {"end", names.end}, {"to", to}}), true);
    return plan_any_loop(p, out, c, names, scope);
  }
  if (variable == nullptr) return;
  const loop_names names{number, i, "", variable,
                         declare_unqualified(p, variable->getType(), "const " + name) + " = " + i + ";"};
  out.token(c_text(successor_loop_begin, {{"variable", declare_unqualified(p, variable->getType(), i)},
                                          {"from", from},
                                          {"condition", head_value(p, names, c.condition, scope)}}),
            true);
  plan_any_loop(p, out, c, names, scope);
}

}  // namespace sukima::language
