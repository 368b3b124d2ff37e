// SPDX-License-Identifier: Apache-2.0
// Marks in planned text. They enclose text in which the C compiler must expand the user's macros. It must not
// expand macros elsewhere, because all other text has already been expanded. The printer removes the marks
// (print/macros.hpp). It may insert directives before any name, so generated text has no user's name among
// the arguments of a macro.
#pragma once

#include <string>

namespace sukima::language {

inline constexpr char written_begin = '\1';
inline constexpr char written_end = '\2';
inline constexpr char call_begin = '\3';
inline constexpr char call_end = '\4';

inline bool is_mark(char c) { return written_begin <= c && c <= call_end; }

/// Marks text of the user, including its macros.
inline std::string marked_as_written(const std::string& text) { return written_begin + text + written_end; }

/// Marks a call of a macro. \param arguments  expanded, with their parentheses; may be empty
inline std::string marked_call(const std::string& name, const std::string& arguments) {
  return call_begin + marked_as_written(name) + arguments + call_end;
}

}  // namespace sukima::language
