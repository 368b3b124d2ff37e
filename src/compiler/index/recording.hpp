// SPDX-License-Identifier: Apache-2.0
// The functions with which the walk in build.cpp fills the semantic index, by subject. `function` is always
// the function or closure around the node, or null at file scope. Nodes in system headers have no tokens and
// are skipped.
#pragma once

#include "index/semantic_index.hpp"

namespace sukima::language {

/// The destination of the walk's results.
struct recording {
  const unit& of;
  semantic_index& index;
  clang::DiagnosticsEngine& diagnostics;

  bool in_system(clang::SourceLocation location) const;
  /// Records that the identifier at `location` refers to `declaration`.
  void name(clang::SourceLocation location, const clang::NamedDecl* declaration) const;
};

// Declarations (declarations.cpp)

/// Begins an entry for a function with a body.
function_info& record_function(const recording& to, const clang::FunctionDecl* function);
/// Begins an entry for a closure whose block is inside `outer`.
function_info& record_closure(const recording& to, const closure_declaration& closure, function_info& outer);
void record_variable(const recording& to, const clang::VarDecl* variable);
void record_type(const recording& to, const clang::TagDecl* type, function_info* function);
/// Records that a function names a type with a tag, which it may thereby declare.
void record_named_type(const recording& to, clang::TagTypeLoc type, function_info* function);
void record_local_declaration(const recording& to, const clang::DeclStmt* statement, function_info* function);

// Calls and function types (calls.cpp)

void record_call(const recording& to, const clang::CallExpr* call, const function_info* function);
void record_generic(const recording& to, const clang::GenericSelectionExpr* e);
/// Records a cast. `(plain type)f` is the C entry of a worker function f. Other conversions between pointers
/// to worker functions and pointers to plain functions are reported, because the two are called with
/// different arguments.
void record_cast(const recording& to, const clang::CStyleCastExpr* cast);
/// Records the parameter list of the function type that a `worker` precedes.
void record_declarator(const recording& to, clang::TypeLoc type);

// Use of variables (variable_uses.cpp)

void record_change(const recording& to, const clang::Expr* lvalue, function_info* function);
/// Records `&`. `&f` of a closure f is f; for anything else, its address is taken.
void record_address_operator(const recording& to, const clang::UnaryOperator* e, function_info* function);

// Jumps (jumps.cpp)

/// The loops and switches around the current node, within its function or closure, as tokens of their
/// keywords.
struct enclosing_statements {
  std::vector<token_index> breakable;
  std::vector<token_index> loops;
  std::vector<token_index> switches;
};

/// Records a return, break, continue or goto. `target` as in `jump`.
void record_jump(const recording& to, jump_kind kind, clang::SourceLocation keyword, token_index target,
                 const clang::LabelDecl* label, const function_info* function);
void record_label(const recording& to, const clang::LabelStmt* s, function_info* function);
/// Records the address of a label. If desugaring inserted it, it represents a goto out of a closure.
void record_label_address(const recording& to, const clang::AddrLabelExpr* e);

// Values that travel between nodes (travel.cpp)

/// Fills in the entries of the cluster, and how the unit's tasks travel. Reports a `cluster` that marks no
/// function. Does nothing in a unit without the word.
void find_travelling_tasks(const clang::ASTContext& ast, const unit& u, semantic_index& index,
                           clang::DiagnosticsEngine& diagnostics);

}  // namespace sukima::language
