// SPDX-License-Identifier: Apache-2.0
// The invariants of the planner's data: the facts before planning, the names that it gives, and the functions
// that are unwound.
#include "plan/planner.hpp"

namespace sukima::language {

using namespace clang;

namespace {

/// Returns whether the calls begin with a token, outer ones first.
template <class Call> bool are_from_outside_in(const std::vector<const Call*>& calls, token_index first) {
  return std::ranges::all_of(calls, [first](const Call* one) { return one->first == first; }) &&
         std::ranges::is_sorted(calls, std::greater(), &Call::open);
}

}  // namespace

const char* plan_input::violated_invariant() const {
  token_index end = 0;
  for (const token_range& one : outlined) {
    if (one.begin < end || one.end < one.begin) return "outlined blocks follow each other";
    end = one.end;
  }
  if (!std::ranges::is_sorted(macro_changes)) return "the changes of macros are in the order of the source";
  for (const auto& [first, calls] : pointer_calls)
    if (!are_from_outside_in(calls, first))
      return "calls of workers by plain C are known from the outside in";
  for (const auto& [first, calls] : closure_pointer_calls)
    if (!are_from_outside_in(calls, first)) return "calls of closures are known from the outside in";
  for (const auto& [first, call] : closure_names_called)
    if (call->callee == nullptr || call->first != first) return "a closure that is called by name is known";
  for (const auto& [first, open] : calls_of_c)
    if (first != no_token && !index.all_calls.contains(open)) return "a call of plain C is a call";
  for (const FunctionDecl* f : called_after_polls)
    if (!cloned.contains(f)) return "only a function with a clone has a polled clone";
  for (const FunctionDecl* f : cloned)
    if (!is_worker_type(f->getType())) return "only worker functions have clones";
  if (options.sequential && !(cloned.empty() && calls_of_c.empty()))
    return "sequential code has no clones and no notes";
  return nullptr;
}

const char* unit_names::violated_invariant() const {
  const auto has_own_names = [](const auto& names) {
    std::set<std::string_view> seen;
    return std::ranges::all_of(names, [&seen](const auto& one) { return seen.insert(one.second).second; });
  };
  if (!has_own_names(pointer_entries) || !has_own_names(closure_callers))
    return "the functions that call through pointers have different names";
  if (!has_own_names(renamed)) return "declarations that were moved have different names";
  if (moved_count < renamed.size()) return "each declaration that was moved has a number";
  for (const auto& [declaration, own] : closures)
    if (declaration->body.empty()) return "the generated function of a closure is that of its definition";
  return nullptr;
}

namespace {

const char* violated_by(const unwound& u, const unit& of) {
  if ((u.closure != nullptr) != (u.creator != nullptr))
    return "a closure has a creator, and no function has one";
  if (u.parameters.size() != u.parameter_types.size())
    return "each parameter of an unwound function has a type";
  std::set<std::string_view> names;
  for (const VarDecl* one : u.variables) {
    const auto member = u.members.find(one);
    if (member == u.members.end() || !names.insert(member->second).second)
      return "each variable of an unwound function has its own member in the frame";
    if (!u.scopes.contains(one)) return "the scope of each variable of an unwound function is known";
  }
  if (u.members.size() != u.variables.size()) return "a frame has members for the variables of its function";
  for (const VarDecl* one : u.in_frame)
    if (!u.members.contains(one)) return "a variable in a frame is a member of it";
  std::vector<token_index> ends;  // of the statements around
  for (const auto& [t, one] : u.statements) {
    if (one.whole.begin != t || one.whole.empty() || !u.function->body.holds(one.whole))
      return "a statement that is rewritten is in its function";
    while (!ends.empty() && ends.back() <= t) ends.pop_back();
    if (!ends.empty() && ends.back() < one.whole.end) return "the statements that are rewritten nest";
    ends.push_back(one.whole.end);
  }
  for (const auto& [first, last] : u.plain_calls)
    if (last <= first || last >= of.tokens.size()) return "a call of plain C ends after it begins";
  for (const closure_declaration* c : u.closures)
    if (c->body.empty() || !u.function->body.holds(c->whole))
      return "a function creates closures in its block";
  return nullptr;
}

}  // namespace

const char* unwind_plan::violated_invariant() const {
  std::set<std::string_view> names;
  for (const unwound& one : all_) {
    if (!names.insert(one.name).second) return "unwound functions have different names";
    if (one.closure == nullptr && !chosen_.contains(one.function->declaration->getCanonicalDecl()))
      return "a function that is unwound was chosen";
    if (const char* const violated = violated_by(one, unit_); violated != nullptr) return violated;
  }
  return nullptr;
}

}  // namespace sukima::language
