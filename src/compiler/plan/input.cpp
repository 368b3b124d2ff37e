// SPDX-License-Identifier: Apache-2.0
#include "plan/input.hpp"

#include "plan/clones.hpp"

#include <algorithm>
#include <functional>

namespace sukima::language {

using namespace clang;

namespace {

bool is_call_of_system(const plan_input& in, token_index open) {
  const auto is_there = [&](SourceLocation place) {
    return in.sources.isInSystemHeader(in.sources.getSpellingLoc(place));
  };
  const CallExpr* const call = in.index.all_calls.at(open);
  const token_index first = in.unit.find(call->getBeginLoc());
  if (first == no_token || is_there(in.unit.tokens[first].getLocation())) return true;
  const FunctionDecl* const callee = call->getDirectCallee();
  return callee != nullptr && (callee->getBuiltinID() != 0 || is_there(callee->getLocation()));
}

/// Returns whether the callee may call an argument, as qsort does.
bool hands_on_functions(const CallExpr* call) {
  return std::any_of(call->arg_begin(), call->arg_end(),
                     [](const Expr* one) { return one->getType()->isFunctionPointerType(); });
}

/// Finds the functions of plain C that may call a closure which jumps, as far as this unit shows.
class closure_call_finder {
 public:
  explicit closure_call_finder(const plan_input& in) : in_(in) {}

  /// Returns whether the function can call code that is not visible here: a function of another file, a
  /// worker function, or the target of a pointer.
  bool may_call_closures(const FunctionDecl* function) {
    const FunctionDecl* const definition = function->getDefinition();
    if (definition == nullptr || is_worker_type(function->getType())) return true;
    const auto [known, is_new] = known_.emplace(definition, false);  // false for recursive calls
    if (!is_new) return known->second;
    const function_info* const own =
        in_.index.function_at(in_.unit.find(definition->getBody()->getBeginLoc()));
    bool result = own == nullptr;
    for (token_index t = result ? 0 : own->body.begin; !result && t < own->body.end; ++t) {
      const auto call = in_.index.all_calls.find(t);
      if (call == in_.index.all_calls.end() ||
          (is_call_of_system(in_, t) && !hands_on_functions(call->second)))
        continue;
      const FunctionDecl* const callee = call->second->getDirectCallee();
      result = callee == nullptr || may_call_closures(callee);
    }
    return known_[definition] = result;
  }

 private:
  const plan_input& in_;
  std::map<const FunctionDecl*, bool> known_;  ///< by definition
};

/// Returns whether a longer call of plain C or of a closure begins with this call, as in worker(x)->c(y). The
/// longer call then notes where the choice points end.
bool begins_longer_call(const plan_input& in, token_index first, token_index open) {
  const auto c = in.calls_of_c.find(first);
  if (c != in.calls_of_c.end() && c->second > open) return true;
  const auto variadic = in.variadic_calls.find(first);
  if (variadic != in.variadic_calls.end() && !variadic->second->is_worker && variadic->second->open > open)
    return true;
  const auto closures = in.closure_pointer_calls.find(first);
  return closures != in.closure_pointer_calls.end() &&
         std::ranges::any_of(closures->second,
                             [open](const closure_call* one) { return !one->is_worker && one->open > open; });
}

/// Finds the calls of plain C by worker functions, and the calls of workers in their arguments. In a file
/// without closures it finds only those that may call a closure of another file.
void find_calls_of_c(plan_input& in) {
  if (in.options.sequential) return;
  const bool has_closures = !in.unit.closures.empty() || !in.unit.closure_types.empty();
  closure_call_finder finder(in);
  std::vector<token_range> arguments;
  for (const auto& [open, call] : in.index.all_calls) {
    context scope;
    scope.function = in.index.function_at(open);
    if (scope.function == nullptr || !scope.function->is_worker) continue;
    scope.top = "sukima_top";
    if (!leaves_for_c(in, open, scope)) continue;
    const FunctionDecl* const callee = call->getDirectCallee();
    if (!has_closures && callee != nullptr && !hands_on_functions(call) && !finder.may_call_closures(callee))
      continue;
    arguments.push_back({open, in.unit.partner[open]});
    if (in.index.closure_calls.contains(open)) continue;
    const auto [known, is_new] = in.calls_of_c.emplace(in.unit.find(call->getBeginLoc()), open);
    if (is_new) continue;
    // Several calls begin with one token, as in a()->b(). The first call after all calls of workers among
    // them is stored.
    const token_range between{std::min(known->second, open), std::max(known->second, open)};
    known->second = calls_a_worker(in, between) ? between.end : between.begin;
  }
  std::ranges::sort(arguments, {}, &token_range::begin);
  token_index furthest = 0;  // each ends where it or an earlier one does, whichever comes last
  for (token_range& one : arguments) one.end = furthest = std::max(furthest, one.end);
  const auto add = [&](token_index first, token_index open) {
    const auto behind = std::ranges::lower_bound(arguments, open, {}, &token_range::begin);
    const bool is_argument = behind != arguments.begin() && open < std::prev(behind)->end;
    if (!is_argument || begins_longer_call(in, first, open)) return;
    token_index& last = in.workers_in_arguments.try_emplace(first, open).first->second;
    last = std::max(last, open);
  };
  for (const auto& [open, call] : in.index.calls)
    if (call.in_worker) add(call.first, open);
  for (const auto& [open, call] : in.index.closure_calls)
    if (call.is_worker && call.in_worker) add(call.first, open);
}

/// Sorts the calls of closures by the way in which they are made.
void find_closure_calls(plan_input& in) {
  for (const auto& [open, call] : in.index.closure_calls) {
    if (!is_pointer_call(in, call)) {
      in.closure_names_called.emplace(call.first, &call);
      continue;
    }
    const auto* type = call.call->getCallee()->getType()->castAs<PointerType>();
    if (type->getPointeeType()->castAs<FunctionProtoType>()->isVariadic()) {
      in.variadic_calls.emplace(call.first, &call);
      continue;
    }
    auto& calls = in.closure_pointer_calls[call.first];
    calls.push_back(&call);
    std::sort(calls.begin(), calls.end(),
              [](const closure_call* a, const closure_call* b) { return a->open > b->open; });
  }
}

/// Finds the blocks whose pragmas must not be printed in the function around them.
void find_outlined_blocks(plan_input& in) {
  const auto add = [&in](token_range block) {
    if (block.empty()) return;
    token_index before = block.begin;
    while (before > 0 && in.unit.origins[--before] == no_token) continue;
    in.outlined.push_back({in.unit.origins[before], in.unit.origins[block.end - 1]});
  };
  for (const construct& c : in.unit.constructs) {
    if (c.kind == construct_kind::try_catch) add(c.first);
    for (const token_range& block : {c.put, c.guard, c.split}) add(block);
    if (in.options.sequential) add(c.get);  // it is in dead code
  }
  std::sort(in.outlined.begin(), in.outlined.end(),
            [](const token_range& a, const token_range& b) { return a.begin < b.begin; });
  token_index end = 0;
  std::erase_if(in.outlined, [&end](const token_range& r) {
    if (r.begin < end) return true;
    end = r.end;
    return false;
  });
}

/// Returns whether a construct polls.
bool polls(const construct* c) {
  return c->kind == construct_kind::do_two || c->kind == construct_kind::loop ||
         c->kind == construct_kind::join || c->kind == construct_kind::poll;
}

}  // namespace

plan_input input_of(CompilerInstance& compiler, const unit& u, const semantic_index& index,
                    const plan_options& options) {
  plan_input in{compiler, compiler.getASTContext(), compiler.getSourceManager(), u, index, options};
  for (const construct& c : u.constructs) in.construct_at.emplace(c.whole.begin, &c);
  for (const closure_declaration& c : u.closures) in.closure_at.emplace(c.whole.begin, &c);
  for (const FunctionDecl* f : index.workers) in.worker_declarations.emplace(u.find(f->getLocation()), f);
  for (const function_info& f : index.functions)
    if (f.declaration != nullptr && std::ranges::any_of(f.constructs, polls))
      in.polling.insert(f.declaration->getCanonicalDecl());
  for (const side_text& text : u.source.texts)
    if (text.changes_macro) in.macro_changes.push_back(text.before);
  find_outlined_blocks(in);
  find_closure_calls(in);
  find_calls_of_c(in);
  if (options.unwind_closures) in.unwinding = std::make_unique<const unwind_plan>(in.ast, u, index);
  if (options.sequential) return in;
  in.cloned = functions_with_clones(in);
  in.called_after_polls = functions_called_after_polls(in);
  for (const auto& [open, call] : index.calls)
    if (!call.in_worker && call.callee == nullptr) in.pointer_calls[call.first].push_back(&call);
  for (auto& [first, calls] : in.pointer_calls)  // several calls begin with one token in a->f()->g()
    std::ranges::sort(calls, std::greater(), &worker_call::open);
  for (const auto& [open, declarator] : index.declarators)
    if (declarator.void_token != no_token) in.left_out.insert(declarator.void_token);
  SUKIMA_ASSERT_VALID(in);
  return in;
}

std::ranges::subrange<std::vector<side_text>::const_iterator> texts_in(const plan_input& in,
                                                                       token_index after, token_index last) {
  const std::vector<side_text>& all = in.unit.source.texts;
  return {std::ranges::upper_bound(all, after, {}, &side_text::before),
          std::ranges::upper_bound(all, last, {}, &side_text::before)};
}

bool leaves_for_c(const plan_input& in, token_index open, const context& scope) {
  if (in.options.sequential || scope.top.empty() || scope.function == nullptr || !scope.function->is_worker)
    return false;
  if (const auto closure = in.index.closure_calls.find(open); closure != in.index.closure_calls.end())
    return !closure->second.is_worker;
  if (in.index.calls.contains(open)) return false;
  const auto call = in.index.all_calls.find(open);
  return call != in.index.all_calls.end() &&
         (!is_call_of_system(in, open) || hands_on_functions(call->second));
}

bool calls_a_worker(const plan_input& in, token_range tokens) {
  for (token_index t = tokens.begin; t < tokens.end; ++t) {
    const auto call = in.index.calls.find(t);
    if (call != in.index.calls.end() && call->second.in_worker) return true;
    const auto closure = in.index.closure_calls.find(t);
    if (closure != in.index.closure_calls.end() && closure->second.is_worker && closure->second.in_worker)
      return true;
  }
  return false;
}

bool is_pointer_call(const plan_input& in, const closure_call& call) {
  return call.callee == nullptr || (call.is_worker && !call.in_worker && !in.options.sequential);
}

}  // namespace sukima::language
