// SPDX-License-Identifier: Apache-2.0
// Errors and warnings about the user's text, for all stages.
#pragma once

#include "source/clang.hpp"

namespace sukima::language {

/// Reports an error at that place, in Clang's style; the message needs no escapes. The translation fails at
/// the end of the stage.
void report_error(clang::DiagnosticsEngine& diagnostics, clang::SourceLocation location,
                  const std::string& message);
/// Reports the same as a warning, to which the options -w and -Werror apply.
void report_warning(clang::DiagnosticsEngine& diagnostics, clang::SourceLocation location,
                    const std::string& message);

}  // namespace sukima::language
