// SPDX-License-Identifier: Apache-2.0
// The reserved results with which functions report that they have unwound.
#include "plan/unwind.hpp"

#include "plan/names.hpp"

namespace sukima::language {

using namespace clang;

namespace {

/// Returns the result with which a callee reports that it has unwound; empty: no value can report it.
std::string special_value(const planner& p, QualType type) {
  if (!type->isIntegralOrEnumerationType() && !type->isPointerType()) return "";
  const auto size = p.in.ast.getTypeSizeInChars(type).getQuantity();
  if (size != 4 && size != 8) return "";
  return "(" + declare_unqualified(p, type, "") + ")SUKIMA_SPECIAL_" + std::to_string(size);
}

}  // namespace

std::string special_result(const planner& p, QualType type) {
  if (type->isVoidType()) return p.in.options.land_closures ? "" : "1";
  std::string value = special_value(p, type);
  if (!value.empty()) return value;
  return type->isScalarType() ? "0" : "*(" + pointer_to(p, type) + ")(void *)sukima_r";
}

std::string pointer_to(const planner& p, QualType type) {
  return declare(p, p.in.ast.getPointerType(type.getUnqualifiedType()), "");
}

std::string special_test(const planner& p, QualType type, const std::string& result) {
  const std::string value = special_value(p, type);
  const std::string asked = "sukima_unwinding.sukima_asked";
  return value.empty() ? "SUKIMA_RARELY(" + asked + ")"
                       : "SUKIMA_RARELY(" + result + " == " + value + ") && " + asked;
}

QualType unwound_type(const plan_input& in, QualType type) {
  return type->isVoidType() && !in.options.land_closures ? in.ast.IntTy : type.getUnqualifiedType();
}

}  // namespace sukima::language
