// SPDX-License-Identifier: Apache-2.0
#include "plan/clones.hpp"

#include "plan/input.hpp"
#include "plan/names.hpp"
#include "plan/polls.hpp"
#include "plan/worker_functions.hpp"

namespace sukima::language {

using namespace clang;

namespace {

/// Returns whether an attribute of a function is correct for each of its forms.
bool is_harmless(const Attr* one) {
  return isa<UnusedAttr>(one) || isa<NoInlineAttr>(one) || isa<HotAttr>(one) || isa<ColdAttr>(one) ||
         isa<NonNullAttr>(one) || isa<ReturnsNonNullAttr>(one) || isa<WarnUnusedResultAttr>(one) ||
         isa<DeprecatedAttr>(one) || isa<NoThrowAttr>(one) || isa<FormatAttr>(one);
}

/// Returns whether other functions can replace this one.
bool may_have_forms(const FunctionDecl* f) {
  if (f->isMain() || f->isVariadic() || !f->hasWrittenPrototype() || (f->isInlineSpecified() && !is_local(f)))
    return false;
  for (const FunctionDecl* one : f->redecls())
    if (one->hasAttrs() && !std::all_of(one->attr_begin(), one->attr_end(), is_harmless)) return false;
  return std::all_of(f->param_begin(), f->param_end(), [](const ParmVarDecl* one) {
    return one->getIdentifier() != nullptr && !one->getType()->isVariablyModifiedType();
  });
}

/// Returns whether a function or a closure declares a static variable, of which there must be only one.
bool has_static_object(const function_info& f) {
  return std::any_of(f.declarations.begin(), f.declarations.end(), [](const local_declaration& d) {
    return std::any_of(d.declared.begin(), d.declared.end(), [](const NamedDecl* one) {
      const auto* variable = dyn_cast<VarDecl>(one);
      return variable != nullptr && variable->isStaticLocal();
    });
  });
}

/// Returns whether the function's block can be printed several times: it has no static variable, no closure
/// in it jumps to its labels, and no directive belongs to one of its lines.
bool may_be_repeated(const plan_input& in, const function_info& f) {
  if (f.computed_goto || has_static_object(f) || (f.has_closures && in.options.check_closures)) return false;
  if (std::ranges::any_of(in.index.closures_in(f.body), has_static_object)) return false;
  const auto jump = in.index.closure_jumps.lower_bound(f.body.begin);
  if (jump != in.index.closure_jumps.end() && f.body.holds(jump->first)) return false;
  for (token_index t = f.whole.begin; t < f.whole.end; ++t)
    if (in.unit.tokens[t].isOneOf(tok::kw_asm, tok::kw_static_assert, tok::kw__Static_assert) ||
        in.unit.roles[t] == token_role::pragma ||
        (in.options.check_closures && in.index.closure_calls.contains(t)))
      return false;
  const token_index first = in.unit.origins[f.whole.begin];
  const token_index last = in.unit.origins[f.body.end - 1];
  return first != no_token && last != no_token &&
         std::ranges::none_of(texts_in(in, first, last),
                              [](const side_text& text) { return text.directive; });
}

/// Returns whether a token in a block calls a worker function that fulfils a condition.
template <class F> bool has_call(const plan_input& in, token_range block, F condition) {
  for (token_index t = block.begin; t < block.end; ++t)
    if (const auto call = in.index.calls.find(t); call != in.index.calls.end() && condition(call->second))
      return true;
  return false;
}

/// Returns whether a call calls a clone that polls.
bool polls_in_clone(const plan_input& in, const worker_call& call) {
  return call.callee != nullptr && in.cloned.contains(call.callee->getCanonicalDecl()) &&
         contains_polls(in, call.callee);
}

/// Returns whether a clone would differ from the function.
bool forks_or_calls(const plan_input& in, const function_info& f) {
  return std::any_of(f.constructs.begin(), f.constructs.end(),
                     [](const construct* c) { return c->kind != construct_kind::throw_tag; }) ||
         has_call(in, f.body, [](const worker_call&) { return true; });
}

/// The name of a form in C, and the assembler name of its symbol.
std::string c_name(const FunctionDecl* f, function_form form) {
  const std::string name = f->getNameAsString();
  return name + (form == function_form::clone          ? "__clone"
                 : form == function_form::polled_clone ? "__polled"
                 : form == function_form::parallel     ? "__parallel"
                                                       : "__choosing");
}
std::string symbol(const FunctionDecl* f, function_form form) {
  const std::string name = f->getNameAsString();
  return "__asm__(\"" + name +
         (form == function_form::clone          ? ".clone"
          : form == function_form::polled_clone ? ".polled"
          : form == function_form::parallel     ? ".parallel"
                                                : ".choosing") +
         "\")";
}

bool has_polled_form(const plan_input& in, const FunctionDecl* f) {
  return in.called_after_polls.contains(f->getCanonicalDecl());
}

/// The clone and the parallel form, which functions in other units call.
constexpr std::array shared_forms{function_form::clone, function_form::parallel};

}  // namespace

std::set<const FunctionDecl*> functions_with_clones(const plan_input& in) {
  std::set<const FunctionDecl*> result;
  if (!in.options.clones) return result;
  for (const function_info& f : in.index.functions)
    if (f.is_worker && f.execution == nullptr && may_have_forms(f.declaration) && may_be_repeated(in, f) &&
        forks_or_calls(in, f))
      result.insert(f.declaration->getCanonicalDecl());
  return result;
}

bool polls_for_its_calls(const plan_input& in, const construct& loop) {
  if (loop.kind != construct_kind::loop || loop.next.empty()) return false;
  for (token_index t = loop.first.begin; t < loop.first.end; ++t)
    if (in.unit.tokens[t].isOneOf(tok::kw_for, tok::kw_while, tok::kw_do, tok::kw_goto) ||
        in.closure_at.contains(t) || in.index.closure_calls.contains(t))
      return false;
  return true;
}

std::set<const FunctionDecl*> functions_called_after_polls(const plan_input& in) {
  std::set<const FunctionDecl*> result;
  for (const construct& c : in.unit.constructs) {
    if (!polls_for_its_calls(in, c)) continue;
    (void)has_call(in, c.first, [&](const worker_call& call) {
      if (polls_in_clone(in, call)) result.insert(call.callee->getCanonicalDecl());
      return false;
    });
  }
  return result;
}

std::string form_name(const plan_input& in, const FunctionDecl* f, const context& scope) {
  const bool has_names =
      in.cloned.contains(f->getCanonicalDecl()) || (in.options.clones && !is_local(f) && !f->isMain());
  if (scope.form == function_form::parallel_with_clones || !has_names) return worker_name(f);
  const bool needs_no_poll = scope.form == function_form::clone && scope.has_polled && has_polled_form(in, f);
  return c_name(f, needs_no_poll ? function_form::polled_clone : scope.form);
}

std::string form_prototypes(const plan_input& in, const FunctionDecl* f, const std::string& words) {
  const bool is_cloned = in.cloned.contains(f->getCanonicalDecl());
  if (!is_cloned && (is_local(f) || f->isMain() || !in.options.clones)) return "";
  const std::string type = "__typeof__(" + worker_name(f) + ") ";
  const bool may_be_unused = is_local(f) && words.find("unused") == std::string::npos;
  const std::string before = words + (may_be_unused ? "__attribute__((unused)) " : "") + type;
  std::string text;
  for (const function_form form : shared_forms)
    text.append(before)
        .append(c_name(f, form))
        .append(" ")
        .append(symbol(f, form))
        .append(weak_words(f))
        .append(";\n");
  if (has_polled_form(in, f))
    text += before + c_name(f, function_form::polled_clone) + " " + symbol(f, function_form::polled_clone) +
            ";\n";
  if (is_cloned)
    text += "static " + type + c_name(f, function_form::parallel_with_clones) + " " +
            symbol(f, function_form::parallel_with_clones) + ";\n";
  return text;
}

context context_of_form(const plan_input& in, const function_info& f, function_form form) {
  context scope;
  scope.function = &f;
  scope.top = "sukima_top";
  scope.form = form;
  scope.form_suffix = form == function_form::clone      ? "_clone"
                      : form == function_form::parallel ? "_parallel"
                                                        : "";
  scope.is_copy = form != function_form::parallel_with_clones;
  const bool is_polled = form == function_form::clone && has_polled_form(in, f.declaration);
  scope.heading_name = c_name(f.declaration, is_polled ? function_form::polled_clone : form);
  return scope;
}

std::string clone_poll(const context& scope) {
  return "(sukima_is_raised(" + scope.top + ") && sukima_poll_in_clone(" + scope.top + "))";
}

std::string begin_form(const plan_input& in, const function_info& f, const context& scope) {
  if (scope.form != function_form::clone || has_polled_form(in, f.declaration) ||
      !contains_polls(in, f.declaration))
    return "";
  std::string call = c_name(f.declaration, function_form::parallel) + "(sukima_top";
  for (const ParmVarDecl* parameter : f.declaration->parameters())
    call += ", " + parameter->getNameAsString();
  call += ");";
  const bool has_result = !f.result->isVoidType();
  return " if " + clone_poll(scope) + (has_result ? " return " + call : " { " + call + " return; }");
}

bool calls_a_polling_clone(const plan_input& in, token_range block) {
  return has_call(in, block, [&](const worker_call& call) { return polls_in_clone(in, call); });
}

context context_of_rest(planner& p, token_range block, const context& scope) {
  context rest = scope;
  rest.form = function_form::parallel;
  rest.is_copy = true;
  rest.copied = block;
  rest.suffix = "_sukima" + std::to_string(++p.names.copy_count);
  rest.form_suffix = "_rest" + std::to_string(p.names.copy_count);
  return rest;
}

namespace {

/// Plans two more names for a function without a clone, because a clone in another unit may call it by them.
/// The names are weak, so that debuggers and profilers show the first name.
void plan_names(planner& p, const FunctionDecl* f) {
  if (is_local(f) || f->isMain()) return;
  for (const function_form form : shared_forms)
    p.out.after_function.text("extern __typeof__(" + worker_name(f) + ") " + c_name(f, form) + " " +
                              symbol(f, form) + " __attribute__((weak, alias(\"" + f->getNameAsString() +
                              ".worker\")));\n");
}

}  // namespace

void plan_choice(planner& p, const function_info& f) {
  const FunctionDecl* const function = f.declaration;
  if (p.in.options.sequential || f.execution != nullptr) return;
  if (!p.in.cloned.contains(function->getCanonicalDecl())) return plan_names(p, function);
  std::string list = "char *sukima_top";
  std::string arguments = "(sukima_top";
  unsigned number = 0;
  for (const ParmVarDecl* parameter : function->parameters()) {
    const std::string own = "sukima_" + std::to_string(++number);
    list += ", " + declare_unqualified(p, parameter->getType(), own);
    arguments += ", " + own;
  }
  arguments += ")";
  SUKIMA_ASSERT(f.is_worker, "plain functions have one form");
  const bool has_result = !f.result->isVoidType();
  // The digit prevents a conflict: sukima_call_site is a type.
  const std::string site = "sukima_0_" + function->getNameAsString() + "_site";
  const auto call = [&](function_form form) { return c_name(function, form) + arguments; };
  const auto leave_with = [&](function_form form) {
    return (has_result ? "return " + call(form) : call(form) + "; return") + "; ";
  };
  if (has_polled_form(p.in, function)) {
    context clone;
    clone.top = "sukima_top";
    p.out.after_function.text(
        declare_unqualified(p, f.result, c_name(function, function_form::clone) + "(" + list + ")") +
        " { if " + clone_poll(clone) + " { " + leave_with(function_form::parallel) + "} " +
        leave_with(function_form::polled_clone) + "} ");
  }
  const std::string kept = has_result ? declare_unqualified(p, f.result, "sukima_v") + "; " : "";
  const auto keep = [&](function_form form) {
    return has_result ? assign(p, f.result, "sukima_v", call(form)) : call(form) + ";";
  };
  p.out.after_function.text(
      "static sukima_call_site " + site + "; " +
      declare_unqualified(p, f.result, worker_name(function) + "(" + list + ")") +
      " { const int sukima_way = sukima_call_begins(&" + site +
      ", sukima_top); if (sukima_way == " + "SUKIMA_AS_CLONE) { " + leave_with(function_form::clone) +
      "} if (sukima_way == SUKIMA_AS_PARALLEL) { " + leave_with(function_form::parallel) +
      "} if (sukima_way == SUKIMA_AS_CHOOSING) { " + leave_with(function_form::parallel_with_clones) +
      "} { " + kept +
      "const unsigned long long sukima_begun = sukima_call_ticks(); if (sukima_way == "
      "SUKIMA_AS_TIMED_CLONE) " +
      keep(function_form::clone) + " else " + keep(function_form::parallel_with_clones) +
      " sukima_call_ended(&" + site + ", \"" + function->getNameAsString() +
      "\", sukima_top, sukima_begun); return" + (has_result ? " sukima_v" : "") + "; } } ");
}

}  // namespace sukima::language
