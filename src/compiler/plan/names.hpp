// SPDX-License-Identifier: Apache-2.0
// Queries about names and tokens, and the text of names and types.
#pragma once

#include "plan/planner.hpp"

namespace sukima::language {

/// Reports an error about text that cannot be translated.
void report(const plan_input& in, clang::SourceLocation place, const std::string& message);

/// Returns a declaration of `name` with this type, as it is written at file scope; an empty name gives the
/// type's name. \throws unprintable_type
std::string declare(const planner& p, clang::QualType type, const std::string& name);

/// The same, without the qualifiers of the type itself.
std::string declare_unqualified(const planner& p, clang::QualType type, const std::string& name);

/// Returns a statement that gives an object its value, even if its type has const members.
std::string assign(const planner& p, clang::QualType type, const std::string& place,
                   const std::string& value);

/// Returns the text of a token, as the user wrote it.
std::string spelling(const plan_input& in, token_index t);

/// Returns whether the variable was inserted for the parser, as `this` is.
bool is_put_in(const plan_input& in, const clang::VarDecl* variable);

/// Returns the variable that a token names, or null.
const clang::VarDecl* variable_at(const plan_input& in, token_index t);

/// Returns whether any token of the range names the variable.
bool uses(const plan_input& in, token_range range, const clang::VarDecl* variable);

/// Returns whether the variable is a parameter of a function or of a closure.
bool is_parameter(const plan_input& in, const clang::VarDecl* variable);

/// Returns the function or closure that owns the variable.
const function_info& owner_of(const plan_input& in, const clang::VarDecl* variable, const context& scope);

/// Returns the name of the worker version, which is the user's, for debuggers and __func__.
std::string worker_name(const clang::FunctionDecl* f);

/// Returns the name of the C entry. Only its symbol has the user's name.
std::string entry_name(const clang::FunctionDecl* f);

/// Returns the beginning of the names of generated types and functions in this function or closure.
std::string base_name(const context& scope);

/// Returns whether this unit has its own copy of the function: it is static, or it is an inline definition
/// whose external definition is elsewhere.
bool is_local(const clang::FunctionDecl* f);

/// Returns whether a worker function gets a C entry. For a static one that no plain C of this unit calls, the
/// C compiler would warn about an unused entry.
bool has_entry(const plan_input& in, const clang::FunctionDecl* f);

/// Returns whether this is a thread-local variable that is looked up by a call here. Worker functions need
/// the call, because a fiber may continue on another thread. So do plain functions, because they may be
/// inlined into worker functions.
bool is_looked_up_by_thread(const plan_input& in, const clang::VarDecl* variable, const context& scope);

/// Returns the function that looks up a thread-local variable.
std::string thread_accessor(const std::string& variable);

/// Declares the exec function of a task if it has not been declared.
void need_task(planner& p, const std::string& task);

/// Returns the suffix of a label's name in a block that the same function contains several times.
std::string label_suffix(const clang::LabelDecl* label, const context& scope);

/// Returns the declarations of labels at the start of a block, which must come first there.
token_range label_declarations(const plan_input& in, token_index begin);

/// Returns the expression for a variable in this context.
std::string name_in(const plan_input& in, const clang::VarDecl* variable, const context& scope);

}  // namespace sukima::language
