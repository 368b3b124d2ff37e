// SPDX-License-Identifier: Apache-2.0
// Prints a planned unit as C text. The planner has decided everything: this is one loop over tokens and their
// edits.
#pragma once

#include "print/sheet.hpp"

namespace sukima::language {

/// The text of a token, without annotation tokens, which have none.
std::string spelling_of(clang::Preprocessor& preprocessor, const clang::Token& token);

/// The C text of a sheet. \param line_directives  write `#line` where lines do not follow the user's
std::string print_sheet(clang::CompilerInstance& compiler, const unit& u, const sheet& s,
                        bool line_directives);

/// The same on one line, without leading spaces, and with the marks of text that macros are expanded in: an
/// expression that becomes a part of generated text.
std::string print_on_one_line(clang::CompilerInstance& compiler, const unit& u, const sheet& s);

}  // namespace sukima::language
