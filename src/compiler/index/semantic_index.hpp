// SPDX-License-Identifier: Apache-2.0
// What Clang's analysis says about a unit's tokens: which declaration a name means, which calls and
// declarators are
// those of worker functions, how variables are used, and where control leaves.
#pragma once

#include "source/unit.hpp"

namespace sukima::language {

/// A call through the type of a worker function, found by its opening parenthesis.
struct worker_call {
  const clang::CallExpr* call;
  const clang::FunctionDecl* callee;  ///< null: through a pointer
  token_index first;  ///< of the callee's expression
  bool in_worker;  ///< stands in a worker function, so that the top is at hand
  bool has_arguments;
};

/// A call of a closure, found by its opening parenthesis.
struct closure_call {
  const clang::CallExpr* call;
  const clang::VarDecl* callee;  ///< the closure's own variable; null: a pointer
  token_index first;  ///< of the callee's expression
  token_index open;
  bool is_worker;  ///< of a worker closure
  bool in_worker;  ///< the top is at hand
  bool has_arguments;
};

/// The parameter list of a worker function's type, found by its opening parenthesis.
struct worker_declarator {
  bool empty;  ///< (void)
  token_index void_token;  ///< the `void` to leave out
  bool has_prototype;
};

/// A declaration statement in a function.
struct local_declaration {
  token_range tokens;  ///< with its semicolon
  std::vector<const clang::NamedDecl*> declared;
};

/// A struct, union or enum that is defined in a function.
struct local_type {
  const clang::TagDecl* tag;
  token_range tokens;  ///< from its keyword on, with the attributes behind its brace
  token_index brace;
};

enum class jump_kind : std::uint8_t { leave_function, leave_block, next_iteration, go_to };

/// return, break, continue or goto, found by its keyword.
struct jump {
  jump_kind kind;
  token_index keyword;
  token_index end;  ///< behind its semicolon
  token_index target;  ///< token of the loop, switch or label that it leads to; no_token: the function
  const construct* own_loop;  ///< break or continue of a parallel loop
  const clang::LabelDecl* label;
};

/// A function, or the block of a closure.
struct function_info {
  const clang::FunctionDecl* declaration;  ///< of a closure: the function around it
  const closure_declaration* closure = nullptr;
  function_info* outer = nullptr;  ///< of a closure: the function or closure around it
  bool has_closures = false;
  bool is_worker;  ///< a worker function, or a task_exec
  clang::QualType result;
  const task_execution* execution;  ///< or null
  token_range body;  ///< with its braces
  token_range whole;  ///< the external declaration
  std::set<const clang::VarDecl*> address_taken;
  std::multimap<const clang::VarDecl*, token_index> changes;
  std::map<const clang::LabelDecl*, token_index> labels;
  std::vector<std::pair<const clang::SwitchCase*, token_index>>
      switches;  ///< labels with their switch's keyword
  std::vector<construct*> constructs;
  std::vector<local_declaration> declarations;
  std::vector<local_type> types;
  bool computed_goto = false;
};

struct semantic_index {
  std::unordered_map<token_index, const clang::NamedDecl*> names;  ///< what a name refers to
  std::unordered_map<token_index, worker_call> calls;
  std::unordered_map<token_index, worker_declarator> declarators;
  std::unordered_map<token_index, const clang::CallExpr*> all_calls;  ///< by the opening parenthesis
  std::unordered_map<token_index, const clang::BinaryOperator*> assignments;  ///< by the operator
  std::unordered_map<token_index, jump> jumps;
  std::set<token_index> function_names;  ///< __func__ and the like
  std::set<token_index> plain_entries;  ///< a worker function's name where its C entry is meant
  std::set<token_index> type_names;  ///< a name that is used as a type
  std::map<token_index, const clang::FieldDecl*> fields;
  std::map<const clang::VarDecl*, token_index> declared;  ///< where a variable's name stands
  std::deque<function_info> functions;  ///< in the order of the file
  std::deque<function_info> closures;  ///< their blocks, outer ones in front of inner ones
  std::map<const clang::VarDecl*, const closure_declaration*> closure_variables;
  std::unordered_map<token_index, closure_call> closure_calls;
  std::set<token_index> dropped;  ///< the `&` of &f, where f is a closure: both mean its pointer
  std::vector<clang::SourceLocation> casts_of_closures;  ///< to pointers to plain functions
  std::vector<const clang::FunctionDecl*> declared_by_typedef;  ///< as closures
  std::map<token_index, const clang::LabelDecl*> closure_jumps;  ///< by the keyword: goto out of a closure
  std::map<const clang::LabelDecl*, token_index> all_labels;
  std::vector<const clang::FunctionDecl*> workers;  ///< first declarations of worker functions, in order
  std::set<const clang::FunctionDecl*> entered;  ///< canonical: needs its C entry
  std::set<const clang::VarDecl*> worker_locals;  ///< canonical declarations

  /// The function or the innermost closure whose block holds a token.
  const function_info* function_at(token_index t) const;
  const function_info* info_of(const closure_declaration& c) const;
};

/// Is this the type of a worker function, or of a pointer to one? Worker closures are among them.
bool is_worker_type(clang::QualType type);
/// Is this the type of a closure, or of a pointer to closures?
bool is_closure_type(clang::QualType type);

/// Walks over the syntax tree of the whole unit.
semantic_index build_semantic_index(clang::ASTContext& context, unit& from);

}  // namespace sukima::language
