// SPDX-License-Identifier: Apache-2.0
// Reads a file through Clang's preprocessor and keeps the text that the output must repeat.
#pragma once

#include "source/unit.hpp"
#include "translate.hpp"

namespace sukima::language {

/// Lexes the main file to its end. The preprocessor must not have entered any file yet. The user's #define,
/// #undef, #pragma and #include <…> lines and comments become side texts; the user's own headers are read in
/// place.
/// \param macros  the macros that the C compiler predefines
/// \param lists_missing_files  headers that are not found are among the files, and cause no error
source_tokens preprocess(clang::CompilerInstance& compiler, const std::vector<predefined_macro>& macros,
                         bool lists_missing_files);

}  // namespace sukima::language
