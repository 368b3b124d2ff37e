// SPDX-License-Identifier: Apache-2.0
// Questions about names and tokens, and how names and types are written.
#pragma once

#include "plan/planner.hpp"

namespace sukima::language {

/// Reports an error about what cannot be translated.
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

/// Was the variable put in for the parser, as `this` is?
bool is_put_in(const plan_input& in, const clang::VarDecl* variable);

/// The variable that a token names, or null.
const clang::VarDecl* variable_at(const plan_input& in, token_index t);

/// Does any token of the range name the variable?
bool uses(const plan_input& in, token_range range, const clang::VarDecl* variable);

/// Is it a parameter of a function or of a closure?
bool is_parameter(const plan_input& in, const clang::VarDecl* variable);

/// The function or closure whose variable it is.
const function_info& owner_of(const plan_input& in, const clang::VarDecl* variable, const context& where);

/// The worker version has the user's name, for debuggers and __func__ …
std::string worker_name(const clang::FunctionDecl* f);

/// … the C entry has that of the symbol only.
std::string entry_name(const clang::FunctionDecl* f);

/// What the names of generated types and functions begin with in this function or closure.
std::string base_name(const context& where);

/// Whether this unit has a copy of its own: static, or an inline definition while the external one is
/// elsewhere.
bool is_local(const clang::FunctionDecl* f);

/// Whether a worker function gets a C entry. A static one that no plain C of this unit calls would be a
/// warning.
bool has_entry(const plan_input& in, const clang::FunctionDecl* f);

/// Is this a thread's variable that is looked up by a call here? In worker functions, and in plain ones,
/// which may be inlined into them: a fiber may go on on another thread.
bool is_looked_up_by_thread(const plan_input& in, const clang::VarDecl* variable, const context& where);

/// The function that looks up a thread's variable.
std::string thread_accessor(const clang::VarDecl* variable);

/// Declares the exec function of a task, once.
void need_task(planner& p, const std::string& task);

/// What follows a label's name in a block that the same function has several times.
std::string label_suffix(const clang::LabelDecl* label, const context& where);

/// The declarations of labels at the start of a block, in front of which nothing may stand.
token_range label_declarations(const plan_input& in, token_index begin);

/// How a variable is reached in some place.
std::string name_in(const plan_input& in, const clang::VarDecl* variable, const context& where);

}  // namespace sukima::language
