// SPDX-License-Identifier: Apache-2.0
// Questions about names and tokens, and how names and types are written.
#pragma once

#include "plan/planner.hpp"

namespace sukima::language {

/// Reports an error about text that cannot be translated.
void report(const plan_input& in, clang::SourceLocation place, const std::string& message);

/// A declaration of `name` with this type, as it is written at file scope; an empty name gives the type's
/// name. \throws unprintable_type
std::string declare(const planner& p, clang::QualType type, const std::string& name);

/// The same, without the qualifiers of the type itself.
std::string declare_unqualified(const planner& p, clang::QualType type, const std::string& name);

/// A statement that gives an object its value, also if its type has const members.
std::string assign(const planner& p, clang::QualType type, const std::string& place,
                   const std::string& value);

/// The text of a token, as the user wrote it.
std::string spelling(const plan_input& in, token_index t);

/// Whether the variable was put in for the parser, as `this` is.
bool is_put_in(const plan_input& in, const clang::VarDecl* variable);

/// The variable that a token names, or null.
const clang::VarDecl* variable_at(const plan_input& in, token_index t);

/// Whether any token of the range names the variable.
bool uses(const plan_input& in, token_range range, const clang::VarDecl* variable);

/// Whether it is a parameter of a function or of a closure.
bool is_parameter(const plan_input& in, const clang::VarDecl* variable);

/// The function or closure whose variable it is.
const function_info& owner_of(const plan_input& in, const clang::VarDecl* variable, const context& where);

/// The worker version has the user's name, for debuggers and __func__ …
std::string worker_name(const clang::FunctionDecl* f);

/// … the C entry has that of the symbol only.
std::string entry_name(const clang::FunctionDecl* f);

/// The beginning of the names of generated types and functions in this function or closure.
std::string base_name(const context& where);

/// Whether this unit has its own copy: the function is static, or it is an inline definition whose external
/// one is elsewhere.
bool is_local(const clang::FunctionDecl* f);

/// Whether a worker function gets a C entry. A static one that no plain C of this unit calls would be a
/// warning.
bool has_entry(const plan_input& in, const clang::FunctionDecl* f);

/// Whether this is a thread-local variable that is looked up by a call here. Worker functions need that,
/// because a fiber may continue on another thread, and so do plain functions, which may be inlined into them.
bool is_looked_up_by_thread(const plan_input& in, const clang::VarDecl* variable, const context& where);

/// The function that looks up a thread-local variable.
std::string thread_accessor(const clang::VarDecl* variable);

/// Declares the exec function of a task, once.
void need_task(planner& p, const std::string& task);

/// The suffix of a label's name in a block of which the same function has several copies.
std::string label_suffix(const clang::LabelDecl* label, const context& where);

/// The declarations of labels at the start of a block, which must come first there.
token_range label_declarations(const plan_input& in, token_index begin);

/// The expression for a variable in this context.
std::string name_in(const plan_input& in, const clang::VarDecl* variable, const context& where);

}  // namespace sukima::language
