// SPDX-License-Identifier: Apache-2.0
// The rules of the language that C's do not imply.
#pragma once

#include "index/semantic_index.hpp"

namespace sukima::language {

/// Reports what breaks a rule to the compiler's diagnostics.
void check(clang::CompilerInstance& compiler, const unit& u, const semantic_index& index);
/// Its part for closures; called by check().
void check_closures(clang::CompilerInstance& compiler, const unit& u, const semantic_index& index);

}  // namespace sukima::language
