// SPDX-License-Identifier: Apache-2.0
// Finds nested functions and pointers to closures among the preprocessor's tokens. It changes nothing.
#pragma once

#include "source/unit.hpp"

namespace sukima::language {

/// The declaration that contains a closure's name.
struct closure_context {
  std::size_t begin;  ///< first token of the declaration
  bool is_typedef;
  bool is_parameter;
  bool shares;  ///< follows another declarator
};

/// Whether the parentheses after this token do not belong to a declarator, as after `if` or `sizeof`.
bool takes_parenthesis(const clang::Token& token);
/// A storage class or function specifier, which the pointer that stands for a closure cannot have.
bool is_storage_word(const clang::Token& token);

/// All positions count the preprocessor's tokens. A lookup is linear in the length of the declaration or
/// block.
class closure_syntax {
 public:
  closure_syntax(const source_tokens& in, const clang::SourceManager& sources) : in_(in), sources_(sources) {}

  /// Whether `closure` or `lightweight` follows a declarator and precedes the parameters.
  bool at_closure(std::size_t position) const;
  closure_context context_of(std::size_t name) const;
  /// The word `closure` that the `worker` at a position belongs to, if any: the parameters of the outermost
  /// function type of its declarator are those after `closure`.
  std::optional<std::size_t> closure_of_worker(std::size_t worker) const;
  /// The labels between two positions, except those of closures in between and those declared by `__label__`.
  std::set<std::string> labels_between(std::size_t begin, std::size_t end) const;
  /// The labels declared by `__label__` between two positions, also in inner blocks and closures.
  std::set<std::string> declared_labels_between(std::size_t begin, std::size_t end) const;
  std::size_t closing_of(std::size_t bracket) const;

 private:
  std::size_t opening_of(std::size_t bracket) const;
  bool is_closure_word(std::size_t position) const;
  bool ends_members(std::size_t closing) const;
  bool begins_members(std::size_t opening) const;
  bool begins_values(std::size_t opening, bool in_values) const;
  /// Whether a bracket `(` is open before a position, in the statement around it.
  bool is_in_parentheses(std::size_t position) const;
  std::size_t add_declared_labels(std::size_t position, std::set<std::string>& names) const;

  const source_tokens& in_;
  const clang::SourceManager& sources_;
};

}  // namespace sukima::language
