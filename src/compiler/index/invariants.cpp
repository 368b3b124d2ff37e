// SPDX-License-Identifier: Apache-2.0
// The invariants of the semantic index, on which the checks and the planner rely.
#include "index/semantic_index.hpp"

namespace sukima::language {

using namespace clang;

namespace {

const char* violated_by_functions(const semantic_index& index, const unit& u) {
  token_index end = 0;
  for (const function_info& f : index.functions) {
    if (f.closure != nullptr || f.outer != nullptr) return "a closure is not among the functions of a file";
    if (f.body.empty() || f.body.begin == no_token || f.body.end > u.tokens.size())
      return "each function has a block";
    if (f.whole.begin < end || !f.whole.holds(f.body) || f.whole.end != f.body.end)
      return "the definitions of functions follow each other, each with its block at its end";
    if (f.execution != nullptr && (!f.is_worker || f.execution->block.begin != f.body.begin))
      return "the block of a task_exec is a worker function's";
    end = f.whole.end;
  }
  end = 0;
  for (const function_info& f : index.closures) {
    if (f.closure == nullptr || f.outer == nullptr || f.block == nullptr)
      return "a closure knows its declaration, its block and the function around it";
    if (f.body.begin < end || !f.outer->body.holds(f.whole) || !f.whole.holds(f.body))
      return "closures nest, in the order of their blocks";
    if (f.declaration != f.outer->declaration) return "a closure is in one function of C";
    if (f.result.isNull()) return "the type of each closure is known";
    end = f.body.begin + 1;
  }
  return nullptr;
}

const char* violated_by_contents(const function_info& f) {
  for (const construct* const c : f.constructs)
    if (!f.body.holds(c->whole)) return "the constructs of a function are in its block";
  for (const local_type& one : f.types)
    if (!one.tokens.holds(one.brace)) return "a type that is defined in a function has a brace";
  for (const auto& [variable, places] : f.changes)
    if (variable == nullptr || places.empty()) return "a variable that changes does so in some place";
  return nullptr;
}

const char* violated_by_calls(const semantic_index& index, const unit& u) {
  const auto opens = [&u](token_index open) {
    return open < u.tokens.size() && u.tokens[open].is(tok::l_paren) && u.partner[open] != no_token;
  };
  for (const auto& [open, call] : index.all_calls)
    if (!opens(open) || call == nullptr) return "a call is known by its opening parenthesis";
  for (const auto& [open, call] : index.calls) {
    if (call.open != open || !index.all_calls.contains(open)) return "a call of a worker function is a call";
    if (call.first != no_token && call.first >= open) return "the callee precedes the arguments of a call";
    if (call.callee != nullptr && !call.in_worker && !index.entered.contains(call.callee->getCanonicalDecl()))
      return "a worker function that plain C calls has a C entry";
  }
  for (const auto& [open, call] : index.closure_calls) {
    if (call.open != open || !index.all_calls.contains(open)) return "a call of a closure is a call";
    if (call.first != no_token && call.first >= open) return "the callee precedes the arguments of a call";
    if (call.callee != nullptr && !index.closure_variables.contains(call.callee))
      return "the callee of a closure's call is a closure";
    if (index.calls.contains(open)) return "a call calls a worker function or a closure";
  }
  for (const auto& [open, one] : index.declarators)
    if (!opens(open) || (one.void_token != no_token && (one.void_token < open || !one.empty)))
      return "the parameters of a worker function are known by their opening parenthesis";
  return nullptr;
}

const char* violated_by_jumps(const semantic_index& index, const unit& u) {
  for (const auto& [keyword, one] : index.jumps) {
    if (one.keyword != keyword || one.end <= keyword || one.end > u.tokens.size())
      return "a jump is known by its keyword, and ends after it";
    if (one.kind == jump_kind::go_to && one.label == nullptr) return "a goto has a label";
    if (one.own_loop != nullptr &&
        (one.own_loop->kind != construct_kind::loop || !one.own_loop->first.holds(keyword)))
      return "the break or continue of a parallel loop is in its body";
  }
  for (const auto& [keyword, one] : index.generics)
    if (one.chosen.begin <= keyword || one.chosen.empty() || one.chosen.end >= one.end)
      return "the chosen expression of a _Generic is in its parentheses";
  return nullptr;
}

const char* violated_by_variables(const semantic_index& index, const unit& u) {
  for (const auto& [variable, t] : index.declared)
    if (t >= u.tokens.size()) return "a variable is declared by a token";
  for (const auto& [variable, c] : index.closure_variables)
    if (c != u.closure_named_at(index.declared.at(variable)))
      return "the variable of a closure is declared where the closure is";
  for (const auto& [t, declaration] : index.names)
    if (t >= u.tokens.size() || declaration == nullptr) return "a name in a unit refers to a declaration";
  for (const auto& [function, t] : index.cluster_entries)
    if (!std::ranges::binary_search(u.cluster_keywords, t))
      return "the entries of a cluster are declared with 'cluster'";
  for (const auto& [task, travel] : index.travels)
    for (const travelling_member& one : travel.members)
      if (!one.is_in && !one.is_out) return "a member that travels is 'in' or 'out'";
  return nullptr;
}

}  // namespace

const char* indexed_unit::violated_invariant() const {
  for (const auto part : {violated_by_functions, violated_by_calls, violated_by_jumps, violated_by_variables})
    if (const char* const violated = part(index, of); violated != nullptr) return violated;
  for (const std::deque<function_info>* all : {&index.functions, &index.closures})
    for (const function_info& f : *all)
      if (const char* const violated = violated_by_contents(f); violated != nullptr) return violated;
  return nullptr;
}

}  // namespace sukima::language
