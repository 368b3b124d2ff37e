// SPDX-License-Identifier: Apache-2.0
// Which variables outlined blocks use, and how they reach them through choice points and frames.
#pragma once

#include "plan/planner.hpp"

namespace sukima::language {

/// Whether a token is in a block that may run while the frame is suspended within these tokens: PUT, guard,
/// split, BEFORE or AFTER of a construct around them.
bool runs_while_asleep(token_index t, token_range within, const function_info& f);

/// Reports a type that the block uses and that cannot be moved out of the function. \returns whether it is
/// one
bool needs_local_type(const planner& p, token_index token, const std::vector<token_range>& used);

/// The variables that a construct's choice point or frame has to hold for these blocks.
std::vector<captured> captures_of(const planner& p, const construct& c, const std::vector<token_range>& used,
                                  const context& where);

/// The members for captured variables. Types of variable length have no name outside their function, so their
/// lengths are captured, too.
std::string capture_fields(const planner& p, const std::vector<captured>& captures);

/// Assigns to these members. \param holder  an expression of the pointer to the choice point or frame
std::string fill_captures(const planner& p, const std::string& point, const std::vector<captured>& captures,
                          const context& where);

/// How a block of another function reaches a captured variable: declarations, or a name in `inside`.
std::string bind_capture(const planner& p, const captured& one, const std::string& point, context& inside);

/// Functions and variables that the user declared in the function only, as `extern int f(int);`.
std::string local_prototypes(const planner& p, const std::vector<token_range>& used);

/// The beginning of an outlined function: its pointers to choice points, and the names of what is `used`,
/// which go into `inside`. The choice points of one function lie side by side: the outer one ends where the
/// inner begins.
std::string reach_captures(planner& p, const level& own, const context& outside,
                           const std::vector<token_range>& used, context& inside);

/// Gives `this` of a block its expression.
void bind_this(const plan_input& in, token_range block, const std::string& expression, context& inside);

}  // namespace sukima::language
