// SPDX-License-Identifier: Apache-2.0
// -fclosures=unwind: functions with a fast and a slow version.
#pragma once

#include "plan/planner.hpp"

namespace sukima::language {

// unwind_results.cpp
/// Returns the result with which a function reports that it has unwound.
std::string special_result(const planner& p, clang::QualType type);

/// Returns the type of a pointer to results of a type.
std::string pointer_to(const planner& p, clang::QualType type);

/// Returns the test whether the callee has unwound.
std::string special_test(const planner& p, clang::QualType type, const std::string& result);

/// Returns the type that a version that unwinds returns.
clang::QualType unwound_type(const plan_input& in, clang::QualType type);

// unwind_values.cpp
/// Returns the variable of a result or condition that the rest of the statement uses.
std::string value_name(unsigned number, const context& scope);

/// Returns a declaration of such a variable, or the beginning of an assignment to it.
std::string begin_value(planner& p, unsigned number, clang::QualType type, const context& scope);

/// Records the text that replaces an expression.
void substitute(token_range range, const std::string& text, const context& scope);

// unwind_calls.cpp
/// Plans the call, and the code that runs when it unwinds.
void unwind_call(planner& p, sheet& out, const clang::CallExpr* call, const context& scope);

// unwind_hoist.cpp
/// Prints the calls in an expression before it, and records their replacements.
void hoist(planner& p, sheet& out, const clang::Expr* e, const context& scope);

// unwind_functions.cpp
/// Prints the prototype of the fast version before the first function that calls it.
void declare_unwound(planner& p, const unwound& u);

/// Returns the end of the frame, which is the hidden argument of a called function.
std::string end_of_frame(const unwound& u, bool slow);

/// Returns a declaration of a pointer to the frame.
std::string own_frame(const unwound& u, const std::string& top);

/// Plans a function that is unwound, as a replacement of plain C.
void plan_unwound_function(planner& p, const unwound& u);

/// Plans the block of a closure, at its declaration in the creator's fast version.
void plan_unwound_closure(planner& p, sheet& out, const closure_declaration& c, const context& scope);

// unwind_statements.cpp
/// Plans a statement that contains such calls, or that declares variables of the frame.
void unwound_statement(planner& p, sheet& out, const unwind_statement& rewritten, const context& scope);

// unwind_callers.cpp
/// Plans a function that calls closures through pointers of one type. \returns its name
std::string unwind_caller(planner& p, const clang::CallExpr& call);

}  // namespace sukima::language
