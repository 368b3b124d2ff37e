// SPDX-License-Identifier: Apache-2.0
// The rules of the language beyond those of C.
#pragma once

#include "index/semantic_index.hpp"

namespace sukima::language {

/// Reports violations to the compiler's diagnostics.
void check(clang::CompilerInstance& compiler, const unit& u, const semantic_index& index);
/// The rules for closures; called by check().
void check_closures(clang::CompilerInstance& compiler, const unit& u, const semantic_index& index);
/// The rules for entries and tasks of a cluster; called by check().
void check_cluster(clang::CompilerInstance& compiler, const unit& u, const semantic_index& index);
/// The rules for names and parameters that the generated C would mistake; called by check().
void check_hidden_names(clang::CompilerInstance& compiler, const unit& u, const semantic_index& index);
/// Warns of closures, and of functions with closures, that end without a value; called by check().
void check_returns(clang::CompilerInstance& compiler, const unit& u, const semantic_index& index);
/// The rules for loops by successor; called by check().
void check_successors(clang::CompilerInstance& compiler, const unit& u, const semantic_index& index);
/// Warns of values that depend on timing or on the C compiler; called by check().
void check_values(clang::CompilerInstance& compiler, const unit& u, const semantic_index& index);

}  // namespace sukima::language
