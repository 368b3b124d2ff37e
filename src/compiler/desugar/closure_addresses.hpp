// SPDX-License-Identifier: Apache-2.0
// `&f` of a closure f, which means f, as it does for a function.
#pragma once

#include "source/unit.hpp"

namespace sukima::language {

/// Makes the parser read `&*f` where the unit has `&f`, because a closure f is a constant pointer for the
/// parser. Whether a name is that of a closure depends on the scopes around it, which only the parser knows.
/// So this looks a name up when the parser has read the `&` before it. Call it before parsing; all arguments
/// must outlive the parsing.
void watch_closure_addresses(clang::Preprocessor& preprocessor, const clang::Parser& parser,
                             clang::Sema& sema, const unit& u);

}  // namespace sukima::language
