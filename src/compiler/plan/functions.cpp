// SPDX-License-Identifier: Apache-2.0
#include "plan/functions.hpp"

#include "plan/clones.hpp"
#include "plan/closures.hpp"
#include "plan/names.hpp"
#include "plan/side_texts.hpp"
#include "plan/tokens.hpp"
#include "plan/types.hpp"
#include "plan/worker_functions.hpp"

namespace sukima::language {

using namespace clang;

namespace {

/// Declares the functions that look up thread-local variables. Each access calls such a function, because the
/// fiber may have moved to another thread.
void declare_thread_accessors(planner& p, const function_info& f) {
  for (token_index t = f.body.begin; t < f.body.end; ++t) {
    const VarDecl* variable = variable_at(p.in, t);
    if (variable == nullptr || variable->getTLSKind() == VarDecl::TLS_None) continue;
    context scope;
    scope.function = p.in.index.function_at(t);
    if (!is_looked_up_by_thread(p.in, variable, scope)) continue;
    const auto moved = p.names.renamed.find(variable->getCanonicalDecl());
    const bool is_moved = moved != p.names.renamed.end();
    const std::string name = is_moved ? moved->second : variable->getNameAsString();
    if (variable->isStaticLocal() && !is_moved) {
      // move_declarations has reported those of plain functions.
      if (!scope.function->is_worker || p.in.index.declared.at(variable) != t) continue;
      report(p.in, p.in.unit.tokens[t].getLocation(),
             "the thread-local variable '" + name +
                 "' is declared in a worker function; declare it at file scope");
    } else if (p.names.declared.insert("thread " + name).second) {
      p.out.before_function.text((variable->isLocalExternDecl()
                                      ? "extern __thread " + declare(p, variable->getType(), name) + ";\n"
                                      : "")
                                     .append("static __attribute__((noinline)) __typeof__(")
                                     .append(name)
                                     .append(") *")
                                     .append(thread_accessor(name))
                                     .append("(void) { __asm__ volatile(\"\" ::: \"memory\"); return &")
                                     .append(name)
                                     .append("; }\n"));
    }
  }
}

/// Declares functions that C would declare implicitly at their call. A call with a note uses the function's
/// name as a value, so the declaration must come first.
void declare_implicit_functions(planner& p, const function_info& f) {
  for (token_index t = f.body.begin; t < f.body.end; ++t) {
    const auto call = p.in.calls_of_c.find(t);
    if (call == p.in.calls_of_c.end()) continue;
    const FunctionDecl* const callee = p.in.index.all_calls.at(call->second)->getDirectCallee();
    if (callee == nullptr || !callee->isImplicit()) continue;
    const std::string name = callee->getNameAsString();
    if (p.names.declared.insert("implicit " + name).second)
      p.out.before_function.text("extern int " + name + "();\n");
  }
}

/// Opens the body's block: texts for variables come first, then the user's declarations of labels.
void open_body(planner& p, sheet& body, const function_info& f, token_range labels, const context& scope) {
  if (const auto more = p.function.after_token.find(f.body.begin); more != p.function.after_token.end())
    body.text(more->second);
  plan_tokens(p, body, labels, scope);
}

/// Plans the heading of a task's exec function.
void plan_execution_heading(planner& p, sheet& body, const function_info& f, token_range labels,
                            const context& scope) {
  need_task(p, f.execution->task);
  body.go_to(f.execution->location);
  const std::string type = "struct " + task_type_name(f.execution->task);
  body.text("void sukima_exec_" + f.execution->task + "(char *sukima_top, void *sukima_task) ");
  body.go_to(p.in.unit.tokens[f.body.begin].getLocation());
  body.text("{");
  open_body(p, body, f, labels, scope);
  body.text(" " + type + " *const sukima_this = (" + type +
            " *)sukima_task; (void)sukima_top; (void)sukima_this;");
}

/// Plans the function that chooses a form for a call, and the C entry, in the section after the function.
void plan_entry_after(planner& p, const function_info& f) {
  p.out.after_function.go_to(f.declaration->getLocation(), false);
  try {
    plan_choice(p, f);
    plan_entry(p, f);
  } catch (const unprintable_type& problem) {
    report(p.in, f.declaration->getLocation(),
           "a type of this worker function cannot be used: " + problem.reason);
  }
}

/// Joins the sections, with text that keeps gcc from warning about correct code.
void finish_function(planner& p, const function_info& f, sheet body) {
  sheet& out = p.out.unit;
  // gcc does not recognise that variables which may change before a jump back are in memory.
  const auto jump = p.in.index.closure_jumps.lower_bound(f.body.begin);
  const bool waits = jump != p.in.index.closure_jumps.end() && f.body.holds(jump->first);
  if (waits)
    out.text(
        "\n#ifndef __clang__\n#pragma GCC diagnostic push\n#pragma GCC diagnostic ignored \"-Wclobbered\"\n"
        "#endif\n");
  out.append(std::move(p.out.before_function));
  // gcc assumes that a function which recurses until it throws never returns.
  const bool throws = waits || std::any_of(f.constructs.begin(), f.constructs.end(), [](const construct* c) {
                        return c->kind == construct_kind::throw_tag;
                      });
  if (throws)
    out.text("#pragma GCC diagnostic push\n#pragma GCC diagnostic ignored \"-Winfinite-recursion\"\n");
  out.append(std::move(body));
  out.append(std::move(p.out.after_function));
  if (throws) out.text("#pragma GCC diagnostic pop\n");
  if (waits) out.text("\n#ifndef __clang__\n#pragma GCC diagnostic pop\n#endif\n");
  p.out.before_function = sheet();
  p.out.after_function = sheet();
}

/// Plans the heading and the block.
sheet plan_text(planner& p, const function_info& f, context scope) {
  const bool parallel = f.is_worker && !p.in.options.sequential;
  const token_range labels = label_declarations(p.in, f.body.begin + 1);
  const std::map<const VarDecl*, std::string> in_frames = place_in_frames(p, f, scope);
  sheet body;
  if (f.execution != nullptr) {
    plan_execution_heading(p, body, f, labels, scope);
  } else {
    plan_tokens(p, body, {f.whole.begin, f.body.begin}, scope);
    scope.heading_name.clear();
    scope.names = in_frames;
    body.go_to(p.in.unit.tokens[f.body.begin].getLocation());
    body.token("{", true);
    open_body(p, body, f, labels, scope);
    if (parallel) body.text(" (void)sukima_top;" + begin_form(p.in, f, scope));
  }
  const bool is_main = parallel && f.execution == nullptr && f.declaration->isMain();
  plan_tokens(p, body, {labels.end, is_main ? f.body.end - 1 : f.body.end}, scope);
  if (is_main) {  // C's main returns 0 at its end, but the worker version has another name
    body.text(" return 0; ");
    plan_tokens(p, body, {f.body.end - 1, f.body.end}, scope);
  }
  return body;
}

/// Plans all forms of a function with a clone except the last one. The end of the function follows the last
/// form. \returns the last form
sheet plan_forms(planner& p, const function_info& f) {
  const function_plan before = p.function;
  for (const function_form form : {function_form::parallel_with_clones, function_form::clone}) {
    sheet text = plan_text(p, f, context_of_form(p.in, f, form));
    // Reports an error only once.
    if (p.in.ast.getDiagnostics().getClient()->getNumErrors() > 0) return text;
    finish_function(p, f, std::move(text));
    SUKIMA_ASSERT(p.function.bodies.empty(), "the bodies of a form's 'try's have been planned");
    p.function = before;
  }
  return plan_text(p, f, context_of_form(p.in, f, function_form::parallel));
}

}  // namespace

void plan_function(planner& p, const function_info& f) {
  context scope;
  scope.function = &f;
  SUKIMA_ASSERT(p.out.after_function.steps().empty(), "all text behind the previous function is printed");
  p.out.before_function = sheet();
  p.out.after_function = sheet();
  p.function = {};
  declare_tickets(p, f);
  const bool parallel = f.is_worker && !p.in.options.sequential;
  if (parallel) scope.top = "sukima_top";
  side_texts(p, p.out.unit,
             p.in.unit.origins[f.execution != nullptr ? f.execution->whole.begin : f.whole.begin], scope);
  if (!p.in.options.sequential) declare_workers(p, f.whole);
  move_declarations(p, f);
  declare_thread_accessors(p, f);
  declare_implicit_functions(p, f);
  const bool has_forms = f.execution == nullptr && p.in.cloned.contains(f.declaration->getCanonicalDecl());
  sheet body = has_forms ? plan_forms(p, f) : plan_text(p, f, scope);
  if (parallel && f.execution == nullptr) plan_entry_after(p, f);
  finish_function(p, f, std::move(body));
}

}  // namespace sukima::language
