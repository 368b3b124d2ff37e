// SPDX-License-Identifier: Apache-2.0
// Types as C declarations at file scope.
#pragma once

#include "frontend/unit.hpp"

namespace sukima::language {

/// Thrown for a type that has no name where generated functions stand.
struct unprintable_type {
  std::string reason;
};

/// A declaration of `name` with this type, as `int (*name)[3]`; an empty name gives the type's name.
/// Local typedefs are resolved; with `hidden_top` the types of worker functions get their hidden parameter.
/// \throws unprintable_type for types of variable length, and for those declared in a function
std::string declare(clang::QualType type, const std::string& name, const clang::ASTContext& context,
                    bool hidden_top);

}  // namespace sukima::language
