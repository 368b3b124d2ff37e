// SPDX-License-Identifier: Apache-2.0
// -fclosures=unwind: functions that have a fast and a slow version.
#pragma once

#include "plan/planner.hpp"

namespace sukima::language {

// unwind_values.cpp
/// The result of a function when it unwinds.
std::string special_result(const planner& p, clang::QualType type);

/// The type of a pointer to results of a type.
std::string pointer_to(const planner& p, clang::QualType type);

/// The test whether the callee has unwound.
std::string special_test(const planner& p, clang::QualType type, const std::string& result);

/// The type that a version that unwinds returns.
clang::QualType unwound_type(const plan_input& in, clang::QualType type);

/// The variable of a result or condition that the rest of the statement uses.
std::string value_name(unsigned number, const context& where);

/// Declares such a variable, or gives an assignment to it.
std::string begin_value(planner& p, unsigned number, clang::QualType type, const context& where);

/// Records the text that replaces an expression.
void substitute(token_range range, const std::string& text, const context& where);

// unwind_calls.cpp
/// Plans the call, and the code that runs when it unwinds.
void unwind_call(planner& p, sheet& out, const clang::CallExpr* call, const context& where);

// unwind_hoist.cpp
/// Prints the calls in an expression in front of it, and records their replacements.
void hoist(planner& p, sheet& out, const clang::Expr* e, const context& where);

// unwind_functions.cpp
/// The fast version's prototype, in front of the first function that calls it.
void declare_unwound(planner& p, const unwound& u);

/// The end of the frame, as the hidden parameter of a called function.
std::string end_of_frame(const unwound& u, bool slow);

/// Declares a pointer to the frame.
std::string own_frame(const unwound& u, const std::string& top);

/// Plans a function that is unwound, instead of printing plain C.
void plan_unwound_function(planner& p, const unwound& u);

/// Plans the block of a closure, at its declaration in the creator's fast version.
void plan_unwound_closure(planner& p, sheet& out, const closure_declaration& c, const context& where);

// unwind_statements.cpp
/// A statement that holds such calls, or declares variables of the frame.
void unwound_statement(planner& p, sheet& out, const unwind_statement& rewritten, const context& where);

// unwind_callers.cpp
/// Plans a function that calls closures through pointers of one type. \returns its name
std::string unwind_caller(planner& p, const clang::CallExpr& call);

}  // namespace sukima::language
