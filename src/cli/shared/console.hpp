// SPDX-License-Identifier: Apache-2.0
// Output for people: errors, colours, and a progress line on terminals.
#pragma once

#include <base/shared/errors.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace sukima::cli {

/// Writes to stderr. A failure is ignored.
void print_message(std::string_view text);

/// Replaces each control character of the text by '?', because a terminal would obey it.
/// \param kept  control characters to keep
std::string printable(std::string text, std::string_view kept = {});

/// Writes `sukima: MESSAGE` as one line on stderr, also if the message contains names of several lines.
void complain(std::string_view message);

/// Returns whether this file descriptor is a terminal whose output can be overwritten.
bool moves_cursor(int file_descriptor);

/// Returns whether text on this file descriptor may be coloured: it is a terminal with colours, and NO_COLOR
/// is not set.
bool use_colour(int file_descriptor);

/// Returns the number of columns of the terminal with this file descriptor; 80 if it is unknown.
std::size_t terminal_width(int file_descriptor);

/// Cuts the lines of the text to at most `width` characters, because a terminal would wrap a longer line.
std::string cut_lines(std::string_view text, std::size_t width);

/// Returns the text between the escape codes of an SGR attribute ("1" is bold, "32" green), if `enabled`.
std::string styled(std::string_view text, std::string_view attribute, bool enabled);

/// One line on stderr that each call replaces, and that the destructor removes. Silent unless stderr is a
/// terminal.
class progress_line {
 public:
  progress_line();
  ~progress_line();
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;

  void show(std::string_view text);
  void clear();
  /// Whether the line is shown.
  bool enabled() const { return enabled_; }

 private:
  bool enabled_;
  bool shown_ = false;
};

/// Returns the accepted arguments for a message about a wrong one: "a, b or c".
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
