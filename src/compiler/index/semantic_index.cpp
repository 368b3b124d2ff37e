// SPDX-License-Identifier: Apache-2.0
#include "index/semantic_index.hpp"

namespace sukima::language {

using namespace clang;

namespace {

/// Returns the calling convention, which marks worker functions and closures while Clang parses. CC_C if the
/// type is not a function type.
CallingConv convention_of(QualType type) {
  if (type.isNull()) return CC_C;
  if (const auto* pointer = type->getAs<PointerType>()) type = pointer->getPointeeType();
  const auto* function = type->getAs<FunctionType>();
  return function == nullptr ? CC_C : function->getCallConv();
}

}  // namespace

bool is_worker_type(QualType type) {
  const CallingConv convention = convention_of(type);
  return convention == CC_PreserveMost || convention == CC_PreserveNone;
}

bool is_closure_type(QualType type) {
  const CallingConv convention = convention_of(type);
  return convention == CC_PreserveAll || convention == CC_PreserveNone;
}

namespace {

/// Returns the token with which a part of a function begins.
auto beginning_of(token_range function_info::* part) {
  return [part](const function_info& f) { return (f.*part).begin; };
}

/// Returns the innermost function or closure with this token in a part. Closures are in the order of the
/// file, and a closure around the token surrounds all those that begin between its start and the token.
const function_info* innermost(const semantic_index& index, token_index t,
                               token_range function_info::* part) {
  const auto closure = std::ranges::upper_bound(index.closures, t, {}, beginning_of(part));
  const function_info* f = closure == index.closures.begin() ? nullptr : &*std::prev(closure);
  while (f != nullptr && !(f->*part).holds(t)) f = f->outer;
  if (f != nullptr) return f;
  const auto function = std::ranges::upper_bound(index.functions, t, {}, beginning_of(part));
  if (function == index.functions.begin()) return nullptr;
  f = &*std::prev(function);
  return (f->*part).holds(t) ? f : nullptr;
}

}  // namespace

bool function_info::changes_in(const VarDecl* variable, token_range tokens) const {
  const auto found = changes.find(variable);
  if (found == changes.end()) return false;
  const auto first = found->second.lower_bound(tokens.begin);
  return first != found->second.end() && *first < tokens.end;
}

bool function_info::changes_in_closure(const VarDecl* variable) const {
  const auto found = changes.find(variable);
  return found != changes.end() && found->second.contains(no_token);
}

const function_info* semantic_index::info_of(const closure_declaration& c) const {
  const auto found = std::ranges::lower_bound(closures, c.body.begin, {}, beginning_of(&function_info::body));
  return found != closures.end() && found->closure == &c ? &*found : nullptr;
}

const function_info* semantic_index::function_at(token_index t) const {
  return innermost(*this, t, &function_info::body);
}

const function_info* semantic_index::function_around(token_index t) const {
  return innermost(*this, t, &function_info::whole);
}

std::ranges::subrange<std::deque<function_info>::const_iterator> semantic_index::closures_in(
    token_range block) const {
  const auto first = std::ranges::lower_bound(closures, block.begin, {}, beginning_of(&function_info::body));
  return {first,
          std::ranges::lower_bound(first, closures.end(), block.end, {}, beginning_of(&function_info::body))};
}

}  // namespace sukima::language
