// SPDX-License-Identifier: Apache-2.0
// The text of pragmas, in the form that the output repeats.
#pragma once

#include "source/unit.hpp"

namespace sukima::language {

/// A pragma line in a file.
struct pragma_line {
  std::vector<std::string> words;  ///< after `#pragma`, without comments
  std::vector<bool> spaces;  ///< whether a space precedes each word
  clang::FileID file;
  unsigned begin, end;  ///< offsets in the file

  bool holds(const clang::SourceManager& sources, clang::SourceLocation location) const;
};

/// \param hash  location of the `#`
pragma_line read_pragma(const clang::Preprocessor& preprocessor, clang::SourceLocation hash);

/// Returns the text of a pragma line that the output repeats. It is empty if the pragma applies to the file
/// around it.
side_text text_of_pragma(const pragma_line& line, clang::SourceLocation location);
/// Returns the same for `_Pragma(STRING)`.
side_text text_of_pragma_operator(const clang::LangOptions& language, const std::string& string,
                                  clang::SourceLocation location);

}  // namespace sukima::language
