// SPDX-License-Identifier: Apache-2.0
// Text that tracks which of the user's lines it is on.
#pragma once

#include <string>
#include <string_view>

namespace sukima::language {

/// Collects C. `#line` directives are written where the text's own lines do not follow the user's.
class writer {
 public:
  explicit writer(bool line_directives) : line_directives_(line_directives) {}

  /// The following text belongs to this line of the user's; column 0: anywhere in it.
  void go_to(std::string_view file, unsigned line, unsigned column = 0);
  /// Text, perhaps of several lines.
  void text(std::string_view t);
  /// A token: a space is put in front where the user had one, or where it would run into the last.
  void token(std::string_view word, bool space);
  /// Ends the line unless it is empty.
  void end_line();
  /// Appends another text; the line is unknown then.
  void append(const writer& other);
  const std::string& str() const { return text_; }

 private:
  std::string text_;
  std::string file_;
  unsigned line_ = 0;  ///< of the user's file; 0: unknown
  unsigned column_ = 0;
  bool line_directives_;
};

}  // namespace sukima::language
