// SPDX-License-Identifier: Apache-2.0
// The facts that -fclosures=unwind needs before printing: which functions can be unwound, the members of
// their frames, and the statements to rewrite.
#pragma once

#include "index/semantic_index.hpp"

namespace sukima::language {

/// A statement that must be rewritten.
struct unwind_statement {
  enum class form : std::uint8_t {
    expression,
    declaration,
    leave,
    choice,
    while_loop,
    do_loop,
    for_loop,
    selection
  };
  form kind;
  const clang::Stmt* statement;  ///< null: `leave` in a closure
  const clang::Expr* value = nullptr;  ///< for `leave`: the returned value, or null
  token_range whole;  ///< including its semicolon
};

/// A function or closure that has a fast and a slow version.
struct unwound {
  const function_info* function;
  const unwound* creator = nullptr;  ///< for a closure
  const closure_declaration* closure = nullptr;
  std::string name;  ///< the part after the prefix in generated names
  clang::QualType result;
  std::vector<clang::QualType> parameter_types;
  std::vector<const clang::VarDecl*> parameters;
  std::vector<const clang::VarDecl*> variables;  ///< the parameters, and all other variables of its own block
  std::map<const clang::VarDecl*, std::string> members;  ///< their names in the frame
  std::set<const clang::VarDecl*> in_frame;  ///< variables that are in the frame from the start
  std::map<const clang::VarDecl*, token_range> scopes;  ///< ranges in which they have a name and a value
  std::vector<const closure_declaration*> closures;  ///< definitions, declared in its own block
  std::map<token_index, unwind_statement> statements;  ///< by their first token
  /// The parentheses, by the first token, of calls of plain C that may enter an unwound function again.
  std::map<token_index, token_index> plain_calls;
  bool has_labels = false;
};

/// A version of such a function, while it is printed.
struct unwind_version {
  const unwound* of;
  bool slow;
  unsigned calls = 0;  ///< number of call places so far
  unsigned values = 0;  ///< number of results and conditions so far that are kept in variables
  std::vector<std::pair<unsigned, clang::QualType>> waiting = {};  ///< of this statement, with their types
  std::map<unsigned, clang::QualType> kept =
      {};  ///< those that another call found waiting: members of the frame
  std::map<token_index, std::vector<std::pair<token_index, std::string>>> substitutes =
      {};  ///< for expressions, by their first token: their end and what is printed
  std::set<token_index> continued = {};  ///< keywords of loops whose `continue` is a goto
  std::string declarations = {};  ///< for the slow version: variables of no particular statement
};

/// The plan of a whole unit.
class unwind_plan {
 public:
  unwind_plan(clang::ASTContext& ast, const unit& u, const semantic_index& index);

  /// Returns how a function is unwound; null: it is plain C, or its closures use frames only.
  const unwound* find(const function_info* f) const;
  const unwound* find(const closure_declaration* c) const;
  const unwound* find(const clang::FunctionDecl* f) const;
  /// Returns whether a call unwinds its caller: it calls a closure or such a function.
  bool unwinds(const clang::CallExpr* call) const;
  /// Returns whether a statement contains such a call outside the blocks of closures.
  bool holds_call(const clang::Stmt* s) const;
  /// Returns the tokens of an expression.
  token_range tokens_of(const clang::Expr* e) const;
  /// Returns the token after the last one of a statement.
  token_index end_of(const clang::Stmt* statement) const;

  const char* violated_invariant() const;

 private:
  friend class unwind_collector;
  void choose();
  bool has_statement_pragma(const function_info& f) const;
  bool defines_type_in_heading(const function_info& f) const;
  bool is_possible(const function_info& f) const;
  bool collect(const function_info& f);
  bool may_enter(const clang::Stmt* statement, std::set<const clang::FunctionDecl*>& seen) const;

  clang::ASTContext& ast_;
  const unit& unit_;
  const semantic_index& index_;
  std::set<const clang::FunctionDecl*> chosen_;  ///< canonical
  std::set<token_index> blocks_;  ///< braces of closures
  std::deque<unwound> all_;
  mutable std::unordered_map<const clang::Stmt*, bool> holds_;
};

}  // namespace sukima::language
