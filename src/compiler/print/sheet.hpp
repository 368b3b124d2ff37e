// SPDX-License-Identifier: Apache-2.0
// The planner's output for the printer: generated text, and runs of the user's tokens with a map from token
// to edit.
#pragma once

#include "source/unit.hpp"

namespace sukima::language {

struct step;
struct token_run;

/// C to print, in order: a list of steps. Nothing is formatted yet.
class sheet {
 public:
  sheet();
  sheet(const sheet& other);
  sheet(sheet&& other) noexcept;
  sheet& operator=(const sheet& other);
  sheet& operator=(sheet&& other) noexcept;
  ~sheet();

  /// Adds generated text, possibly of several lines.
  void text(std::string t);
  /// Adds a word. The printer puts a space before it if `space` is set, or if it would join with the previous
  /// word.
  void token(std::string t, bool space);
  /// The following text belongs to the user's line at this location; also to its column, if `column` is set.
  void go_to(clang::SourceLocation location, bool column = true);
  /// Ends the line if it is not empty.
  void end_line();
  /// Adds another sheet, which begins and ends a line.
  void append(sheet other);
  /// Adds a run of the user's tokens.
  void tokens(token_run run);

  const std::vector<step>& steps() const { return steps_; }

 private:
  std::vector<step> steps_;
};

/// A word that is printed instead of a token.
struct printed_word {
  std::string text;
  bool space;
};

// The edits of a token.
/// The token is printed as the user wrote it; the edit exists only for text before or after it.
struct kept {};
/// Nothing is printed.
struct left_out {};
/// These words are printed in its place.
struct reworded {
  std::vector<printed_word> words;
};
/// All tokens up to `end` are replaced: a construct, a moved declaration, a macro use as the user wrote it.
struct replaced {
  token_index end;
  sheet by;
};

struct edit {
  sheet before;  ///< comments and directives before the token
  std::variant<kept, left_out, reworded, replaced> change = kept{};
  std::string after = {};
};

/// The user's tokens in one place of the output. A token without an edit is printed as the user wrote it.
struct token_run {
  token_range tokens;
  std::map<token_index, edit> edits = {};

  const char* violated_invariant() const;
};

// The other steps of a sheet.
struct plain_text {
  std::string text;
};
struct source_line {
  clang::SourceLocation location;
  bool column;
};
struct line_end {};

struct step {
  std::variant<plain_text, printed_word, source_line, line_end, token_run, sheet> content;
};

}  // namespace sukima::language
