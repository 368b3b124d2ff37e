// SPDX-License-Identifier: Apache-2.0
// Writes types as C declarations at file scope.
#pragma once

#include "source/unit.hpp"

namespace sukima::language {

/// Thrown for a type that has no name at the place where generated functions are printed.
struct unprintable_type {
  std::string reason;
};

/// Determines how types are written.
struct type_style {
  const clang::ASTContext& context;
  bool hidden_top;  ///< types of worker functions have their hidden parameter
  const std::map<const clang::Decl*, std::string>* renamed = nullptr;  ///< local types that were moved out
  const std::vector<std::string>* lengths = nullptr;  ///< of arrays of variable length, from the outside in
  /// Names of variables of the unit. If one of them hides a typedef of a type with a name, the type's name is
  /// written.
  const std::set<std::string>* variables = nullptr;
};

/// Returns a declaration of `name` with this type, such as `int (*name)[3]`; an empty name gives the type's
/// name. Local typedefs are resolved.
/// \throws unprintable_type for types of variable length whose lengths are not given, and for types declared
///         in a function
std::string declare(clang::QualType type, const std::string& name, const type_style& style);

/// Returns whether objects of this type cannot be assigned because a member is const.
bool has_const_members(clang::QualType type, const clang::ASTContext& context);

/// Returns expressions for the variable lengths in the type of `variable`, from the outside in, for places
/// where it is visible.
std::vector<std::string> variable_lengths(clang::QualType type, std::string variable);

}  // namespace sukima::language
