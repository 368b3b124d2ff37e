// SPDX-License-Identifier: Apache-2.0
// Prevents the C compiler from expanding names again that have already been expanded.
#pragma once

#include "source/clang.hpp"

namespace sukima::language {

/// Removes the marks from the text of a unit. If a name outside the marks would be expanded as a macro, the
/// macro's definition is put away, and restored before the next text of the user.
std::string without_second_expansion(clang::CompilerInstance& compiler, const std::string& text,
                                     bool line_directives);

}  // namespace sukima::language
