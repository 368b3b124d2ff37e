// SPDX-License-Identifier: Apache-2.0
// The common parts of the constructs: the choice point of a construct, and the functions over it.
#include "plan/constructs.hpp"

#include "plan/c_text.hpp"
#include "plan/captures.hpp"
#include "plan/closures.hpp"
#include "plan/names.hpp"
#include "plan/tokens.hpp"

namespace sukima::language {

using namespace clang;

namespace {

/// The statement `poll`.
constexpr std::string_view poll_statement = R"(
    {
      sukima_poll_point *const $point$ = (sukima_poll_point *)(void *)$top$;
      $point$->sukima_head.sukima_kind_or_child = (sukima_word)&sukima_poll_kind;
      sukima_poll(&$point$->sukima_head);
    }
)";

/// Printed before the function.
constexpr std::string_view choice_point_type = R"(
    struct $name$ { $head$ sukima_head;$members$ } __attribute__((aligned(16)));

)";

/// Printed at the beginning of the construct.
constexpr std::string_view choice_point_begin = R"(
    struct $name$ *const $point$ = (struct $name$ *)(void *)$top$;
    $point$->$head$.sukima_kind_or_child = (sukima_word)&$name$_kind;$stores$
)";

/// The same in the sequential translation, where blocks that are functions read the captured variables from
/// it.
constexpr std::string_view sequential_choice_point = R"(
    struct $name$ $object$, *const $point$ = &$object$;
    (void)$point$;$stores$
)";

/// Printed after the prototypes of the choice point's functions.
constexpr std::string_view choice_point_kind = R"(
    static const sukima_kind $name$_kind = $macro$struct $name$$functions$);

)";

/// The step of a loop by successor, in the form that the runtime calls.
constexpr std::string_view advance_prototype = R"(
    static sukima_bool $name$_advance(const void *sukima_r, sukima_word *sukima_value);

)";

constexpr std::string_view advance_function = R"(
    static sukima_bool $name$_advance(const void *sukima_r, sukima_word *sukima_value) {
      void *const sukima_point = (void *)(sukima_word)sukima_r;
      $next$ = $name$_next(sukima_point, $value$);
      *sukima_value = (sukima_word)sukima_x;
      return $name$_condition(sukima_point, sukima_x);
    }

)";

/// Plans `poll`: a choice point without work, which only polls.
void plan_poll(const plan_input& in, sheet& out, const construct& c, const context& scope) {
  if (in.options.sequential) {
    out.token("{ }", true);
    return;
  }
  out.token(c_text(poll_statement, {{"point", "sukima_r" + number_of(c)}, {"top", scope.top}}), true);
}

QualType loop_type(const planner& p, const construct& c) {
  const VarDecl* const variable = variable_at(p.in, c.variable);
  return variable == nullptr ? p.in.ast.IntTy : variable->getType();
}

/// A value of a loop by successor, as an expression that converts a variable of the runtime.
std::string loop_value(const planner& p, const construct& c, const std::string& word) {
  return "(" + declare_unqualified(p, loop_type(p, c), "") + ")" + word;
}

}  // namespace

void plan_construct(planner& p, sheet& out, const construct& c, const context& scope) {
  SUKIMA_ASSERT(scope.function != nullptr && scope.function->is_worker, "constructs are in worker functions");
  out.go_to(c.location);
  switch (c.kind) {
    case construct_kind::do_two:
      return plan_do_two(p, out, c, scope);
    case construct_kind::loop:
      return plan_loop(p, out, c, scope);
    case construct_kind::wind:
      return plan_dynamic_wind(p, out, c, scope);
    case construct_kind::join:
      return plan_join(p, out, c, scope);
    case construct_kind::try_catch:
      return plan_try(p, out, c, scope);
    case construct_kind::throw_tag:
      return plan_throw(p, out, c, scope);
    case construct_kind::poll:
      return plan_poll(p.in, out, c, scope);
  }
}

level begin_choice_point(planner& p, sheet& out, const construct& c, const std::vector<token_range>& outlined,
                         const char* head, const context& scope) {
  level l;
  l.c = &c;
  l.choice_point = "sukima_r" + number_of(c);
  l.captures = captures_of(p, c, outlined, scope);
  l.outside = std::make_shared<const context>(scope);
  const std::string name = base_name(scope) + "_" + number_of(c);
  p.out.before_function.text(c_text(
      choice_point_type, {{"name", name}, {"head", head}, {"members", capture_fields(p, l.captures)}}));
  const bool is_loop = std::string_view(head) != "sukima_choice_point" && c.kind == construct_kind::loop;
  out.token(c_text(p.in.options.sequential ? sequential_choice_point : choice_point_begin,
                   {{"name", name},
                    {"point", l.choice_point},
                    {"object", "sukima_s" + number_of(c)},
                    {"top", scope.top},
                    {"head", is_loop ? "sukima_head.sukima_head" : "sukima_head"},
                    {"stores", fill_captures(p, l.choice_point, l.captures, scope)}}),
            true);
  return l;
}

context inside_of(const plan_input& in, const level& l, const context& scope) {
  SUKIMA_ASSERT(scope.levels.empty() || scope.levels.back().c->whole.holds(l.c->whole), "levels nest");
  context result = scope;
  if (!in.options.sequential) result.top = "(char *)(" + l.choice_point + " + 1)";
  result.levels.push_back(l);
  return result;
}

void outline_block(planner& p, const std::string& signature, const construct& c, const level& l,
                   token_range block, const context& scope, const std::string& prologue, context inside) {
  SUKIMA_ASSERT(!block.empty() && c.whole.holds(block), "a construct outlines its own blocks");
  p.out.before_function.text("static " + signature + ";\n");
  sheet text;
  text.go_to(c.location, false);
  text.text("static " + signature + " { (void)sukima_r;");
  inside.is_copy = true;
  inside.levels.clear();
  inside.top.clear();
  text.text(reach_captures(p, l, scope, {block}, inside));
  if (c.kind == construct_kind::loop && p.in.unit.roles[block.begin] != token_role::keyword) {
    const VarDecl* variable = variable_at(p.in, c.variable);
    const bool is_head = c.condition.holds(block) || c.next.holds(block);  // its parameter has the value
    if (variable != nullptr && !is_head && uses(p.in, block, variable))
      text.text(
          " " + declare_unqualified(p, variable->getType(), "const " + variable->getNameAsString()) + " = " +
          (c.next.empty() ? "((sukima_loop *)sukima_r)->sukima_i;"
                          : loop_value(p, c, "((sukima_successor_loop *)sukima_r)->sukima_current") + ";"));
  }
  text.text(prologue);
  if (p.in.unit.tokens[block.begin].is(tok::l_brace)) {
    text.text(" ");
    plan_tokens(p, text, block, inside);
  } else {  // the block is an expression in parentheses
    text.text(" return ");
    plan_tokens(p, text, block, inside);
    text.text(";");
  }
  text.text(" }\n");
  p.out.after_function.append(text);
}

std::string put_function(planner& p, const construct& c, const level& l, const context& scope) {
  const std::string name = base_name(scope) + "_" + number_of(c) + "_put";
  std::string lower = "sukima_i1";
  std::string upper = "sukima_i2";
  if (c.kind == construct_kind::loop) {
    lower = spelling(p.in, c.lower);
    upper = spelling(p.in, c.upper);
  }
  context own = scope;
  own.backtracking = "1";
  bind_this(p.in, c.put, "(*sukima_this)", own);
  const std::string type = "struct " + task_type_name(c.task);
  const bool by_successor = !c.next.empty();
  const auto bound = [&](const std::string& bound_name, const std::string& word) {
    return by_successor ? " " + declare_unqualified(p, loop_type(p, c), "const " + bound_name) + " = " +
                              loop_value(p, c, word) + ";"
                        : "";
  };
  outline_block(p,
                "void " + name + "(void *sukima_r, void *sukima_task, " +
                    (by_successor ? "sukima_word sukima_from, sukima_word sukima_to"
                                  : "int " + lower + ", int " + upper) +
                    ")",
                c, l, c.put, scope,
                " " + type + " *const sukima_this = (" + type + " *)sukima_task; (void)sukima_this;" +
                    bound(lower, "sukima_from") + bound(upper, "sukima_to") + " (void)" + lower + "; (void)" +
                    upper + ";",
                own);
  return ", " + name + ", sukima_exec_" + c.task + ", " + type;
}

std::string hint_functions(planner& p, const construct& c, const level& l, const context& scope) {
  std::string text;
  const std::string name = base_name(scope) + "_" + number_of(c);
  context own = scope;
  own.backtracking = "1";
  if (!c.guard.empty()) {
    outline_block(p, "double " + name + "_guard(void *sukima_r)", c, l, c.guard, scope, "", own);
    text = ", sukima_guard, " + name + "_guard";
  } else {
    text = ", 0, 0";
  }
  if (!c.split.empty()) {
    outline_block(p, "int " + name + "_split(void *sukima_r, int sukima_i, int sukima_end)", c, l, c.split,
                  scope, " (void)sukima_i; (void)sukima_end;", own);
    text += ", " + name + "_split";
  } else if (c.kind == construct_kind::loop && c.next.empty()) {
    text += ", 0";
  }
  return text;
}

std::string successor_function(planner& p, const construct& c, const level& l, const context& scope) {
  const std::string name = base_name(scope) + "_" + number_of(c);
  const std::string variable = spelling(p.in, c.variable);
  const auto in_type = [&](const std::string& declarator) {
    return declare_unqualified(p, loop_type(p, c), declarator);
  };
  const std::string list = "(void *sukima_r, " + in_type("const " + variable) + ")";
  const std::string used = " (void)" + variable + ";";
  outline_block(p, in_type(name + "_next" + list), c, l, c.next, scope, used, scope);
  outline_block(p, "_Bool " + name + "_condition" + list, c, l, c.condition, scope, used, scope);
  p.out.before_function.text(c_text(advance_prototype, {{"name", name}}));
  p.out.after_function.text(c_text(
      advance_function,
      {{"name", name}, {"next", in_type("const sukima_x")}, {"value", loop_value(p, c, "*sukima_value")}}));
  return ", " + name + "_advance";
}

void print_kind(planner& p, const std::string& name, const std::string& macro, const std::string& functions) {
  p.out.before_function.text(
      c_text(choice_point_kind, {{"name", name}, {"macro", macro}, {"functions", functions}}));
}

std::string dead_blocks(planner& p, const construct& c, const context& scope) {
  const std::string task = "sukima_t" + number_of(c);
  context dead = scope;
  dead.is_copy = true;
  dead.backtracking = "1";
  bind_this(p.in, c.put, "(*" + task + ")", dead);
  bind_this(p.in, c.get, "(*" + task + ")", dead);
  std::string text = " if (0) { struct " + task_type_name(c.task) + " *const " + task + " = 0; ";
  const auto loop_constant = [&](token_index t) {
    return declare_unqualified(p, loop_type(p, c), "const " + spelling(p.in, t));
  };
  if (c.kind == construct_kind::loop)
    text += loop_constant(c.variable) + " = sukima_i" + number_of(c) + "; (void)" +
            spelling(p.in, c.variable) + "; ";
  if (!c.guard.empty()) text += "(void)" + text_of(p, c.guard, dead) + "; ";
  if (!c.split.empty()) text += "(void)" + text_of(p, c.split, dead) + "; ";
  text += "{ ";
  if (c.kind == construct_kind::loop)
    for (const token_index bound : {c.lower, c.upper})
      text += loop_constant(bound) + " = 0; (void)" + spelling(p.in, bound) + "; ";
  text += text_of(p, c.put, dead) + " } ";
  dead.backtracking = scope.backtracking;
  return text + text_of(p, c.get, dead) + " }";
}

}  // namespace sukima::language
