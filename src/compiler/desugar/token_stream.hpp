// SPDX-License-Identifier: Apache-2.0
// Reads preprocessor tokens and writes unit tokens: all of desugaring does both through this class.
#pragma once

#include "source/unit.hpp"

namespace sukima::language {

/// Returns whether a token is the user's: it is not from a system header, neither directly nor through a
/// macro.
bool is_users(const source_tokens& in, const clang::SourceManager& sources, std::size_t position);

/// Returns whether a token is a name or a keyword of C. Annotation tokens hold other data than a word.
inline bool is_a_word(const clang::Token& token) {
  return !token.isAnnotation() && token.getIdentifierInfo() != nullptr;
}

class token_stream {
 public:
  /// Thrown if the rest of the file cannot be parsed.
  struct stop {};

  token_stream(clang::CompilerInstance& compiler, unit& into)
      : unit_(into), in_(into.source), compiler_(compiler), preprocessor_(compiler.getPreprocessor()) {}

 protected:
  // Reading
  const clang::Token& token(std::size_t ahead = 0) const;
  const clang::Token* previous() const { return at_ == 0 ? nullptr : &in_.tokens[at_ - 1]; }
  bool is(clang::tok::TokenKind kind, std::size_t ahead = 0) const { return token(ahead).is(kind); }
  /// Returns whether a keyword of the language may have its meaning here: it is not from a system header, and
  /// not the name of a member, tag or label.
  bool is_word(const char* word, std::size_t ahead = 0) const;
  bool is_name(std::size_t ahead = 0) const { return is(clang::tok::identifier, ahead); }
  std::string name(std::size_t ahead = 0) const;
  /// Whether the current token is the user's.
  bool at_users() const { return is_users(in_, compiler_.getSourceManager(), at_); }
  /// Whether a block is open.
  bool in_block() const { return !open_braces_.empty(); }
  /// Returns the brace of the innermost open block. Precondition: in_block()
  token_index innermost_brace() const { return open_braces_.back(); }
  /// Returns the open brackets, outermost first, in tokens of the source.
  const std::vector<std::size_t>& open_brackets() const { return open_brackets_; }

  // Errors
  [[noreturn]] void fail(clang::SourceLocation location, const std::string& message) const;
  void report(clang::SourceLocation location, const std::string& message) const;
  void expect(clang::tok::TokenKind kind, const std::string& message);
  bool failed() const { return failed_; }

  // Writing
  token_index here() const { return static_cast<token_index>(unit_.tokens.size()); }
  void push(const clang::Token& token, token_role role, token_index origin = no_token);
  /// Removes the token that was written last. \returns its origin
  token_index pop();
  /// Writes the current token for the parser and the output.
  void copy();
  /// Writes the current token as one of the language's own, which the parser does not see.
  void skip() { consume(token_role::keyword); }
  /// Writes the current token in the given role.
  void consume(token_role role);
  void put(clang::tok::TokenKind kind, clang::SourceLocation location,
           token_role role = token_role::parsed_only);
  /// Inserts a word: a keyword of C or a name.
  void put(const std::string& word, clang::SourceLocation location,
           token_role role = token_role::parsed_only);
  /// Inserts `(void)`.
  void put_void_cast(clang::SourceLocation location);
  /// Inserts `0`.
  void put_zero(clang::SourceLocation location);
  /// Inserts an expression whose value the parser cannot know.
  void put_unknown(clang::SourceLocation location);
  /// Inserts the attribute of a variable that may remain unused.
  void put_unused(clang::SourceLocation location);

  unit& unit_;
  source_tokens& in_;
  std::size_t at_ = 0;  ///< position of the current token in `in_`

 private:
  clang::CompilerInstance& compiler_;
  clang::Preprocessor& preprocessor_;
  std::vector<token_index> open_braces_;
  std::vector<std::size_t> open_brackets_;
  mutable bool failed_ = false;
  bool line_begins_ = false;  ///< a line begins with tokens that the parser does not see
};

}  // namespace sukima::language
