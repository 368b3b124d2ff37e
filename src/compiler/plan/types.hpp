// SPDX-License-Identifier: Apache-2.0
// Types as C declarations at file scope.
#pragma once

#include "source/unit.hpp"

namespace sukima::language {

/// Thrown for a type that has no name where generated functions are printed.
struct unprintable_type {
  std::string reason;
};

/// How types are written.
struct type_style {
  const clang::ASTContext& context;
  bool hidden_top;  ///< the types of worker functions get their hidden parameter
  const std::map<const clang::Decl*, std::string>* renamed = nullptr;  ///< local types that were moved out
  const std::vector<std::string>* lengths = nullptr;  ///< of arrays of variable length, from the outside in
  /// Names of variables of the unit: where one hides a typedef of a type with a name, that name is written.
  const std::set<std::string>* variables = nullptr;
};

/// A declaration of `name` with this type, as `int (*name)[3]`; an empty name gives the type's name.
/// Local typedefs are resolved.
/// \throws unprintable_type for types of variable length whose lengths are not given, and for those declared
///         in a function
std::string declare(clang::QualType type, const std::string& name, const type_style& style);

/// Whether no object of this type can be assigned to: a member of it is const.
bool has_const_members(clang::QualType type, const clang::ASTContext& context);

/// Expressions of the variable lengths in the type of `variable`, from the outside in, where it is visible.
std::vector<std::string> variable_lengths(clang::QualType type, std::string variable);

}  // namespace sukima::language
