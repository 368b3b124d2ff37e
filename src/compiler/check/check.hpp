// SPDX-License-Identifier: Apache-2.0
// The rules of the language that C does not have.
#pragma once

#include "index/semantic_index.hpp"
#include "translate.hpp"

namespace sukima::language {

/// Reports violations to the compiler's diagnostics.
void check(clang::CompilerInstance& compiler, const unit& u, const semantic_index& index);
/// Checks the rules for closures; called by check().
void check_closures(clang::CompilerInstance& compiler, const unit& u, const semantic_index& index);
/// Checks the rules for entries and tasks of a cluster; called by check().
void check_cluster(clang::CompilerInstance& compiler, const unit& u, const semantic_index& index);
/// Checks the rules for names and parameters that would have another meaning in the generated C; called by
/// check().
void check_hidden_names(clang::CompilerInstance& compiler, const unit& u, const semantic_index& index);
/// Checks that the C compiler, described by its macros, knows the C of the program.
void check_c_compiler(clang::CompilerInstance& compiler, const unit& u, const semantic_index& index,
                      const std::vector<predefined_macro>& macros);
/// Warns of closures that end without a value, and of functions with closures that do so; called by check().
void check_returns(clang::CompilerInstance& compiler, const unit& u, const semantic_index& index);
/// Checks the rules for loops by successor; called by check().
void check_successors(clang::CompilerInstance& compiler, const unit& u, const semantic_index& index);
/// Checks the rules for `worker_local` objects; called by check().
void check_worker_locals(clang::CompilerInstance& compiler, const unit& u, const semantic_index& index);
/// Warns of values that depend on timing or on the C compiler; called by check().
void check_values(clang::CompilerInstance& compiler, const unit& u, const semantic_index& index);

}  // namespace sukima::language
