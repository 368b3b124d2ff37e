// SPDX-License-Identifier: Apache-2.0
// Text that tracks the user's line to which it belongs.
#pragma once

#include <string>
#include <string_view>

namespace sukima::language {

/// Collects C. It writes `#line` directives where the text's own lines do not follow the user's.
class writer {
 public:
  explicit writer(bool line_directives) : line_directives_(line_directives) {}

  /// The following text belongs to this line of the user's file; column 0: to any column.
  void go_to(std::string_view file, unsigned line, unsigned column = 0);
  /// Adds text, possibly of several lines.
  void text(std::string_view t);
  /// Adds a token. A space precedes it where the user had one, or if it would join with the previous token.
  void token(std::string_view word, bool space);
  /// Ends the line unless it is empty.
  void end_line();
  /// Appends another text; afterwards the line is unknown.
  void append(const writer& other);
  const std::string& str() const { return text_; }

  const char* violated_invariant() const;

 private:
  std::string text_;
  std::string file_;
  unsigned line_ = 0;  ///< line of the user's file; 0: unknown
  unsigned column_ = 0;
  bool line_directives_;
};

}  // namespace sukima::language
