// SPDX-License-Identifier: Apache-2.0
// Determines which variables outlined blocks use, and how the blocks access them through choice points and
// frames.
#pragma once

#include "plan/planner.hpp"

namespace sukima::language {

/// Returns whether a variable changes in a block that may run while the function is suspended within these
/// tokens: in PUT, guard, split, BEFORE or AFTER of a construct of the function around them.
bool changes_while_asleep(const plan_input& in, const clang::VarDecl* variable, token_range within,
                          const function_info& f);

/// Reports a type that the block uses and that cannot be moved out of the function. \returns whether the
/// token names such a type
bool needs_local_type(const planner& p, token_index token, const std::vector<token_range>& used);

/// Returns the variables that a construct's choice point or frame must hold for these blocks.
std::vector<captured> captures_of(const planner& p, const construct& c, const std::vector<token_range>& used,
                                  const context& scope);

/// Returns the members for captured variables. A type of variable length has no name outside its function, so
/// its lengths are captured, too.
std::string capture_fields(const planner& p, const std::vector<captured>& captures);

/// Assigns the variables to these members. \param point  an expression of the pointer to the choice point or
/// frame
std::string fill_captures(const planner& p, const std::string& point, const std::vector<captured>& captures,
                          const context& scope);

/// Returns whether no two of these variables have the same name, which is that of their member.
bool have_own_names(const std::vector<captured>& captures);

/// Makes a captured variable accessible in a block of another function, by declarations or by a name in
/// `inside`.
std::string bind_capture(const planner& p, const captured& one, const std::string& point, context& inside);

/// Returns declarations of functions and variables that the user declared only in the function, as with
/// `extern int f(int);`.
std::string local_prototypes(const planner& p, const std::vector<token_range>& used);

/// Returns the beginning of an outlined function: its pointers to choice points. Adds the names of the
/// variables in `used` to `inside`. The choice points of one function are adjacent: the outer one ends where
/// the inner one begins.
std::string reach_captures(planner& p, const level& own, const context& outside,
                           const std::vector<token_range>& used, context& inside);

/// Sets the expression for `this` in a block.
void bind_this(const plan_input& in, token_range block, const std::string& expression, context& inside);

}  // namespace sukima::language
