// SPDX-License-Identifier: Apache-2.0
// Finds nested functions and pointers to closures among the preprocessor's tokens. It changes no tokens.
#pragma once

#include <span>

#include "source/unit.hpp"

namespace sukima::language {

/// The declaration that contains a closure's name.
struct closure_context {
  std::size_t begin;  ///< first token of the declaration
  bool is_typedef;
  bool is_parameter;
  bool shares;  ///< it follows another declarator
};

/// Returns whether a token other than a name can begin the declaration of a variable.
bool begins_type(const clang::Token& token);
/// Returns whether only another statement begins with a token, so that a `;` is missing before it.
bool begins_other_statement(const clang::Token& token);
/// Returns whether the parentheses after this token are not part of a declarator, as after `if` or `sizeof`.
bool takes_parenthesis(const clang::Token& token);
/// Returns whether a token is a storage class or function specifier. The pointer that represents a closure
/// cannot have one.
bool is_storage_word(const clang::Token& token);

/// All positions count the preprocessor's tokens. Each function takes time linear in the length of the
/// declaration or block.
class closure_syntax {
 public:
  closure_syntax(const source_tokens& in, const clang::SourceManager& sources) : in_(in), sources_(sources) {}

  /// Returns whether `closure` or `lightweight` follows a declarator and precedes parameters.
  bool at_closure(std::size_t position) const;
  closure_context context_of(std::size_t name) const;
  /// Returns the word `closure` to which the `worker` at a position belongs, if there is one: `closure` then
  /// precedes the parameters of the outermost function type of the declarator.
  std::optional<std::size_t> closure_of_worker(std::size_t worker) const;
  /// Returns the labels between two positions, without those of closures in between and those declared by
  /// `__label__`.
  std::set<std::string> labels_between(std::size_t begin, std::size_t end) const;
  /// Returns the labels declared by `__label__` between two positions, including those in inner blocks and
  /// closures.
  std::set<std::string> declared_labels_between(std::size_t begin, std::size_t end) const;
  std::size_t closing_of(std::size_t bracket) const;
  /// Returns whether the last of these open brackets begins a block. \param open  outermost first
  bool begins_block(std::span<const std::size_t> open) const;
  /// Returns whether the tokens before a position, which is directly in a block, end a statement, a label or
  /// the head of a statement.
  bool may_begin_statement(std::size_t position) const;

 private:
  std::size_t opening_of(std::size_t bracket) const;
  bool is_closure_word(std::size_t position) const;
  bool ends_members(std::size_t closing) const;
  bool ends_head(std::size_t closing) const;
  bool ends_label(std::size_t colon) const;
  bool begins_members(std::size_t opening) const;
  bool begins_values(std::size_t opening, bool in_values) const;
  /// Returns whether a bracket `(` is open before a position, in the surrounding statement.
  bool is_in_parentheses(std::size_t position) const;
  std::size_t add_declared_labels(std::size_t position, std::set<std::string>& names) const;

  const source_tokens& in_;
  const clang::SourceManager& sources_;
};

}  // namespace sukima::language
