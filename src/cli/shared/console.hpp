// SPDX-License-Identifier: Apache-2.0
// Output for people: errors, colours, and a progress line on terminals.
#pragma once

#include <base/shared/errors.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace sukima::cli {

/// Writes to stderr; where that cannot be written, nothing happens.
void print_message(std::string_view text);

/// The text with '?' for each control character, which a terminal would obey.
/// \param kept  control characters that stay
std::string printable(std::string text, std::string_view kept = {});

/// Writes `sukima: MESSAGE` as one line on stderr. Control characters in it, other than ends of lines, are
/// not written: a message may contain names that others chose.
void complain(std::string_view message);

/// Whether this file descriptor is a terminal that can write over what it shows.
bool moves_cursor(int file_descriptor);

/// Whether text on this file descriptor may be coloured: on a terminal with colours, if NO_COLOR is not set.
bool use_colour(int file_descriptor);

/// The columns of the terminal that this file descriptor is; 80 if they are not known.
std::size_t terminal_width(int file_descriptor);

/// The lines of the text, each with at most so many characters: a longer one would continue in the next row
/// of a terminal.
std::string cut_lines(std::string_view text, std::size_t width);

/// The text between the escape codes of an SGR attribute ("1" is bold, "32" green), if `enabled`.
std::string styled(std::string_view text, std::string_view attribute, bool enabled);

/// One line on stderr that each call replaces, and that is removed at the end. Silent unless stderr is a
/// terminal.
class progress_line {
 public:
  progress_line();
  ~progress_line();
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;

  void show(std::string_view text);
  void clear();
  /// Whether it is shown.
  bool enabled() const { return enabled_; }

 private:
  bool enabled_;
  bool shown_ = false;
};

/// The accepted words of a wrong choice, as "a, b or c".
std::string join_words(const auto& words, std::string_view last_separator = " or ") {
  std::string text;
  std::size_t position = 0;
  for (const auto& word : words) {
    if (position > 0) {
      text += position + 1 == words.size() ? last_separator : std::string_view(", ");
    }
    text += word;
    ++position;
  }
  return text;
}

}  // namespace sukima::cli
