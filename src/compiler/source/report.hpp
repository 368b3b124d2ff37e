// SPDX-License-Identifier: Apache-2.0
// Errors and warnings about the user's text, for all stages.
#pragma once

#include "source/clang.hpp"

namespace sukima::language {

/// An error at that place, in Clang's style; the message needs no escapes. The translation fails at the end
/// of the stage.
void report_error(clang::DiagnosticsEngine& diagnostics, clang::SourceLocation location,
                  const std::string& message);
/// The same as a warning, which the options -w and -Werror concern.
void report_warning(clang::DiagnosticsEngine& diagnostics, clang::SourceLocation location,
                    const std::string& message);

}  // namespace sukima::language
