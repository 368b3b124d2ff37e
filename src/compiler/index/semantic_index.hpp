// SPDX-License-Identifier: Apache-2.0
// The results of Clang's semantic analysis of a unit, by token: the declaration of each name, calls and
// declarators of worker functions, uses of variables, and jumps. build_semantic_index() fills the index;
// later stages only read it.
#pragma once

#include "source/unit.hpp"

namespace sukima::language {

/// A call through the type of a worker function, found by its opening parenthesis.
struct worker_call {
  const clang::CallExpr* call;
  const clang::FunctionDecl* callee;  ///< null: the call is through a pointer
  token_index first;  ///< of the callee's expression
  token_index open;
  bool in_worker;  ///< the caller is a worker function and has the top of the choice stack in a variable
  bool has_arguments;
};

/// A call of a closure, found by its opening parenthesis.
struct closure_call {
  const clang::CallExpr* call;
  const clang::VarDecl* callee;  ///< the closure's variable; null: the call is through a pointer
  token_index first;  ///< of the callee's expression
  token_index open;
  bool is_worker;  ///< the closure is a worker closure
  bool in_worker;  ///< as in worker_call
  bool has_arguments;
};

/// The parameter list of a worker function's type, found by its opening parenthesis.
struct worker_declarator {
  bool empty;  ///< (void)
  token_index void_token;  ///< its `void`, which the output omits
  bool has_prototype;
};

/// A _Generic with two types that are the same type in C, found by its keyword. Only its chosen expression is
/// printed.
struct generic_choice {
  token_index end;  ///< after its parenthesis
  token_range chosen;
  bool is_for_closures;  ///< a closure's type is among them; otherwise only types of workers
};

/// A declaration statement in a function.
struct local_declaration {
  token_range tokens;  ///< with its semicolon
  std::vector<const clang::NamedDecl*> declared;
};

/// A struct, union or enum that is defined in a function.
struct local_type {
  const clang::TagDecl* tag;
  token_range tokens;  ///< from its keyword to the attributes after its brace
  token_index brace;
};

enum class jump_kind : std::uint8_t { leave_function, leave_block, next_iteration, go_to };

/// A return, break, continue or goto, found by its keyword.
struct jump {
  jump_kind kind;
  token_index keyword;
  token_index end;  ///< after its semicolon
  token_index
      target;  ///< token of the loop or switch that it leaves or of its label; no_token: the function's end
  const construct* own_loop;  ///< the parallel loop whose `break` or `continue` this is
  const clang::LabelDecl* label;
};

/// A function, or the block of a closure.
struct function_info {
  const clang::FunctionDecl* declaration;  ///< for a closure: the outermost function around it
  const closure_declaration* closure = nullptr;
  function_info* outer = nullptr;  ///< for a closure: the function or closure around it
  clang::CompoundStmt* block = nullptr;  ///< for a closure
  bool has_closures = false;
  bool is_worker;  ///< a worker function, or a task_exec
  clang::QualType result;
  const task_execution* execution;  ///< or null
  token_range body;  ///< including its braces
  token_range whole;  ///< its external declaration; for a closure: from its declaration to its `}`
  std::set<const clang::VarDecl*> address_taken;
  /// Where variables change; no_token: a closure in this function changes it, whenever it runs.
  std::map<const clang::VarDecl*, std::set<token_index>> changes;
  std::map<const clang::LabelDecl*, token_index> labels;
  std::vector<std::pair<const clang::SwitchCase*, token_index>>
      switches;  ///< labels with their switch's keyword
  std::vector<const clang::SwitchCase*> stray_labels;  ///< in a closure: labels of a switch around it
  std::vector<const construct*> constructs;
  std::vector<local_declaration> declarations;
  std::vector<local_type> types;
  /// The structures and unions of the function that are named in it, each once (its first declaration).
  std::vector<const clang::RecordDecl*> named_records;
  bool computed_goto = false;
  std::vector<std::pair<token_index, const clang::LabelDecl*>> asm_jumps;  ///< of asm goto, with the labels

  /// Returns whether a variable changes in these tokens. Logarithmic.
  bool changes_in(const clang::VarDecl* variable, token_range tokens) const;
  /// Returns whether a closure in the function changes it.
  bool changes_in_closure(const clang::VarDecl* variable) const;
};

/// An `in` or `out` member of a task, or a member of an anonymous structure that is one.
struct travelling_member {
  std::string name;
  bool is_in = false;
  bool is_out = false;
  std::string length;  ///< for an array: the member with its length; otherwise empty
  bool has_signed_length = false;
  bool is_late = false;  ///< that member is an `out` member
};

/// How the tasks of one type travel between nodes.
struct task_travel {
  std::string stays;  ///< the reason why they do not travel; empty: they travel
  std::vector<travelling_member> members;
  std::set<std::string> left_behind;  ///< members that are neither `in` nor `out`
};

/// The maps are keyed by the token named in the comment, or in the type of the value.
struct semantic_index {
  std::unordered_map<token_index, const clang::NamedDecl*> names;  ///< the declaration that a name refers to
  std::unordered_map<token_index, worker_call> calls;
  std::unordered_map<token_index, worker_declarator> declarators;
  std::unordered_map<token_index, const clang::CallExpr*> all_calls;  ///< by the opening parenthesis
  std::unordered_map<token_index, clang::QualType> casts;  ///< the target type, by the opening parenthesis
  std::unordered_map<token_index, const clang::BinaryOperator*> assignments;  ///< by the operator
  std::vector<const clang::Expr*> tags;  ///< of throw and catch
  std::unordered_map<token_index, jump> jumps;
  std::unordered_map<token_index, generic_choice> generics;
  std::set<token_index> function_names;  ///< __func__ and similar names
  std::set<token_index> plain_entries;  ///< names of worker functions that mean the C entry
  std::map<token_index, const clang::FieldDecl*> fields;
  std::map<const clang::VarDecl*, token_index> declared;  ///< the name in its declaration
  std::set<std::string> variable_names;  ///< of local variables and parameters
  std::deque<function_info> functions;  ///< in the order of the file
  std::deque<function_info> closures;  ///< their blocks, outer ones before inner ones
  std::map<const clang::VarDecl*, const closure_declaration*> closure_variables;
  std::unordered_map<token_index, closure_call> closure_calls;
  std::set<token_index> dropped;  ///< the `&` of &f, if f is a closure and &f means f
  std::vector<clang::SourceLocation> casts_of_closures;  ///< casts to pointers to plain functions
  std::vector<const clang::FunctionDecl*>
      declared_by_typedef;  ///< functions declared through a typedef of closures, an error
  std::map<token_index, const clang::LabelDecl*> closure_jumps;  ///< gotos out of closures, by keyword
  std::map<const clang::LabelDecl*, token_index> all_labels;
  std::map<token_index, const clang::LabelDecl*> label_addresses;  ///< in the user's text, by their `&&`
  std::vector<const clang::FunctionDecl*> workers;  ///< first declarations of worker functions, in order
  std::set<const clang::FunctionDecl*>
      entered;  ///< canonical declarations of worker functions that need a C entry
  std::set<const clang::VarDecl*> worker_locals;  ///< canonical declarations
  std::map<const clang::FunctionDecl*, token_index>
      cluster_entries;  ///< canonical declarations of `cluster worker` functions, with that word
  std::map<std::string, task_travel> travels;  ///< the task types of a unit with `cluster worker`

  /// Returns the function or the innermost closure whose block contains a token, or null. Logarithmic, but
  /// for the depth of closures.
  const function_info* function_at(token_index t) const;
  /// Does the same for its whole declaration, with the parameters.
  const function_info* function_around(token_index t) const;
  /// Returns the closures in a block written by the user. Logarithmic.
  std::ranges::subrange<std::deque<function_info>::const_iterator> closures_in(token_range block) const;
  const function_info* info_of(const closure_declaration& c) const;
};

/// A complete index with its unit, for the invariants of both.
struct indexed_unit {
  const semantic_index& index;
  const unit& of;
  const char* violated_invariant() const;
};

/// Returns whether this is the type of a worker function or a worker closure, or of a pointer to one.
bool is_worker_type(clang::QualType type);
/// Returns whether this is the type of a closure, or of a pointer to closures.
bool is_closure_type(clang::QualType type);

/// Returns the reason why values of a type cannot travel to another process; empty: they can.
/// \param path  their name in the reason
std::string why_it_stays(const clang::ASTContext& ast, clang::QualType type, const std::string& path);

/// Walks the syntax tree of the whole unit once. Reports a `worker` that marks no function type. The index
/// points into `u` and `ast`, which must outlive it.
semantic_index build_semantic_index(clang::ASTContext& ast, const unit& u);

}  // namespace sukima::language
