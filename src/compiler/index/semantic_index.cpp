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

const function_info* semantic_index::info_of(const closure_declaration& c) const {
  for (const function_info& f : closures)
    if (f.closure == &c) return &f;
  return nullptr;
}

const function_info* semantic_index::function_at(token_index t) const {
  for (auto f = closures.rbegin(); f != closures.rend(); ++f)
    if (f->body.holds(t)) return &*f;
  for (const function_info& f : functions)
    if (f.body.holds(t)) return &f;
  return nullptr;
}

}  // namespace sukima::language
