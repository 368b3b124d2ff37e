// SPDX-License-Identifier: Apache-2.0
#include "plan/join/spawned_call.hpp"

#include "plan/names.hpp"

namespace sukima::language {

using namespace clang;

namespace {

/// Splits off the target and the operator. \returns the right side; the whole statement if it is not an
/// assignment, as `if (x) a = f();`
token_range split_assignment(const plan_input& in, token_range statement, spawned_call& one) {
  token_range right = statement;
  for (token_index t = statement.begin; t < statement.end; ++t) {
    if (const auto a = in.index.assignments.find(t); a != in.index.assignments.end()) {
      if (in.unit.find(a->second->getBeginLoc()) != statement.begin) break;
      one.assignment = a->second;
      one.target = {statement.begin, t};
      one.operation = t;
      right.begin = t + 1;
      break;
    }
    if (in.unit.partner[t] != no_token && in.unit.partner[t] > t) t = in.unit.partner[t];
  }
  while (right.begin < right.end && in.unit.roles[right.begin] == token_role::keyword) ++right.begin;
  return right;
}

/// Finds the call on the right side of an assignment. Casts may precede it, and parentheses may surround it,
/// as in macros. \returns its tokens
token_range find_call(const plan_input& in, token_range right, spawned_call& one) {
  const unit& u = in.unit;
  token_index last = right.end;
  while (last > right.begin && u.tokens[last - 1].is(tok::r_paren) &&
         !in.index.all_calls.contains(u.partner[last - 1]))
    --last;
  if (last == right.begin || !u.tokens[last - 1].is(tok::r_paren)) return right;
  const CallExpr* const call = in.index.all_calls.at(u.partner[last - 1]);
  const token_index begin = u.find(call->getBeginLoc());
  while (right.begin < begin && u.tokens[right.begin].is(tok::l_paren)) {
    const token_index closing = u.partner[right.begin];
    if (closing < begin) {
      one.casts.push_back({right.begin, closing + 1});
      right.begin = closing + 1;
    } else if (closing + 1 == right.end) {
      right = {right.begin + 1, closing};
    } else {
      break;
    }
  }
  if (right.begin == begin && right.end == last) one.call = call;
  return right;
}

}  // namespace

std::optional<spawned_call> parts_of(const plan_input& in, const join_statement& statement) {
  spawned_call one;
  const token_range right = find_call(in, split_assignment(in, statement.tokens, one), one);
  if (one.call == nullptr) {
    report(in, statement.location,
           "a spawned statement must be a call or an assignment of a call; move the rest into a function");
    return std::nullopt;
  }
  if (one.assignment != nullptr && one.assignment->getLHS()->refersToBitField()) {
    report(in, statement.location,
           "a bit-field has no address; assign to a variable in 'spawn' and copy it after the join");
    return std::nullopt;
  }
  const token_index open = in.unit.partner[right.end - 1];
  one.callee = {right.begin, open};
  SUKIMA_ASSERT(!one.callee.empty() && statement.tokens.holds(one.callee), "a spawned call has a callee");
  token_index begin = open + 1;
  for (token_index t = begin; t < right.end; ++t) {
    if (in.unit.partner[t] != no_token && in.unit.partner[t] > t) t = in.unit.partner[t];
    if (!in.unit.tokens[t].is(tok::comma) && t + 1 != right.end) continue;
    if (t > begin) one.arguments.push_back({begin, t});
    begin = t + 1;
  }
  return one;
}

}  // namespace sukima::language
