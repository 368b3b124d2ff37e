// SPDX-License-Identifier: Apache-2.0
// Prints a planned unit as C text. The planner has made all decisions: this is one loop over tokens and their
// edits.
#pragma once

#include "print/sheet.hpp"

namespace sukima::language {

/// Returns the text of a token; empty for annotation tokens, which have no text.
std::string spelling_of(clang::Preprocessor& preprocessor, const clang::Token& token);

/// Returns the C text of a sheet. \param line_directives  write `#line` where the output's lines do not
/// follow the user's
std::string print_sheet(clang::CompilerInstance& compiler, const unit& u, const sheet& s,
                        bool line_directives);

/// Returns the same on one line, without leading spaces, and with the marks of text in which macros are
/// expanded. Such an expression becomes a part of generated text.
std::string print_on_one_line(clang::CompilerInstance& compiler, const unit& u, const sheet& s);

}  // namespace sukima::language
