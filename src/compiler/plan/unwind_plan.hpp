// SPDX-License-Identifier: Apache-2.0
// The facts that -fclosures=unwind needs before printing: which functions can be unwound, the members of
// their frames, and the statements to rewrite.
#pragma once

#include "index/semantic_index.hpp"

namespace sukima::language {

/// A statement that is rewritten.
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
  const clang::Stmt* statement;  ///< null: of `leave` in a closure
  const clang::Expr* value = nullptr;  ///< of `leave`: what is returned, or null
  token_range whole;  ///< with its semicolon
};

/// A function or closure that has a fast and a slow version.
struct unwound {
  const function_info* function;
  const unwound* creator = nullptr;  ///< of a closure
  const closure_declaration* closure = nullptr;
  std::string name;  ///< the part after the prefix in generated names
  clang::QualType result;
  std::vector<clang::QualType> parameter_types;
  std::vector<const clang::VarDecl*> parameters;
  std::vector<const clang::VarDecl*> variables;  ///< the parameters, and all others of its own block
  std::map<const clang::VarDecl*, std::string> members;  ///< their names in the frame
  std::set<const clang::VarDecl*> in_frame;  ///< they live there from the start
  std::map<const clang::VarDecl*, token_range> scopes;  ///< where they have a name and a value
  std::vector<const closure_declaration*> closures;  ///< definitions, declared in its own block
  std::map<token_index, unwind_statement> statements;  ///< by the first token
  /// The parentheses, by the first token, of calls of plain C that may enter an unwound function again.
  std::map<token_index, token_index> plain_calls;
  bool has_labels = false;
};

/// A version of such a function, while it is printed.
struct unwind_version {
  const unwound* of;
  bool slow;
  unsigned calls = 0;  ///< places so far
  unsigned values = 0;  ///< results and conditions that wait in variables of their own
  std::vector<std::pair<unsigned, clang::QualType>> waiting = {};  ///< of this statement, with their types
  std::map<unsigned, clang::QualType> kept =
      {};  ///< those that another call found waiting: members of the frame
  std::map<token_index, std::vector<std::pair<token_index, std::string>>> substitutes =
      {};  ///< for expressions, by their first token: their end and what is printed
  std::set<token_index> continued = {};  ///< keywords of loops whose `continue` is a goto
  std::string declarations = {};  ///< of the slow version: variables of no statement
};

/// The plan of a whole unit.
class unwind_plan {
 public:
  unwind_plan(clang::ASTContext& ast, const unit& u, const semantic_index& index);

  /// How a function is unwound; null: it is plain C, or its closures keep to frames.
  const unwound* find(const function_info* f) const;
  const unwound* find(const closure_declaration* c) const;
  const unwound* find(const clang::FunctionDecl* f) const;
  /// A call that unwinds its caller: of a closure, or of such a function.
  bool unwinds(const clang::CallExpr* call) const;
  /// Whether it holds such a call, outside the blocks of closures.
  bool holds_call(const clang::Stmt* s) const;
  /// The tokens of an expression.
  token_range tokens_of(const clang::Expr* e) const;
  /// The token after the last one of a statement.
  token_index end_of(const clang::Stmt* statement) const;

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
