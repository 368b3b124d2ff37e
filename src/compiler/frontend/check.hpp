// SPDX-License-Identifier: Apache-2.0
// The rules of the language that C's do not imply.
#pragma once

#include "frontend/facts.hpp"

namespace sukima::language {

/// Reports what breaks a rule to the compiler's diagnostics.
void check(clang::CompilerInstance& compiler, const unit& u, const facts& f);
/// Its part for closures; called by check().
void check_closures(clang::CompilerInstance& compiler, const unit& u, const facts& f);

}  // namespace sukima::language
