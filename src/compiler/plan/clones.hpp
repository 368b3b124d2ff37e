// SPDX-License-Identifier: Apache-2.0
// Sequential clones. A worker function that has a clone is printed three times (function_form). Other
// functions call it through a function that chooses a form. A clone keeps the choice points of dynamic_wind,
// try and join for two reasons. Older choice points can be split while the clone runs. And a jump out of the
// clone finds each AFTER through its choice point.
#pragma once

#include "plan/planner.hpp"

namespace sukima::language {

/// Returns the functions that have a clone: those that are defined in this unit and whose whole text can be
/// printed several times.
std::set<const clang::FunctionDecl*> functions_with_clones(const plan_input& in);

/// Returns the functions with clones that an iteration of a loop by successor calls, where the poll of the
/// iteration also serves for the call. That saves one poll for each node of a search. It also saves the poll
/// for which all arguments of the call would have to be kept for the parallel form. With gcc, lowest-bit
/// n-queens then needs 1.11 times the instructions of plain C instead of 1.45.
std::set<const clang::FunctionDecl*> functions_called_after_polls(const plan_input& in);

/// Returns whether the poll of each iteration also serves for the calls in the loop.
bool polls_for_its_calls(const plan_input& in, const construct& loop);

/// Returns the function that a call of `f` must call here. An external function without a clone has two more
/// names in the unit that defines it, because other units cannot know that it has no clone. A local function
/// needs no such names.
std::string form_name(const plan_input& in, const clang::FunctionDecl* f, const context& scope);

/// Returns the prototypes of a worker function's forms, which follow its own prototype.
std::string form_prototypes(const plan_input& in, const clang::FunctionDecl* f, const std::string& words);

/// Returns the context of a form of a function.
context context_of_form(const plan_input& in, const function_info& f, function_form form);

/// Returns the text at the beginning of a form's block: the clone's poll, unless there is a polled_clone.
std::string begin_form(const plan_input& in, const function_info& f, const context& scope);

/// Returns the poll of a clone: an expression that is true if the parallel form must continue.
std::string clone_poll(const context& scope);

/// Returns whether a block calls a function whose clone polls.
bool calls_a_polling_clone(const plan_input& in, token_range block);

/// Returns the context of a block's second copy in a clone, in its parallel form.
context context_of_rest(planner& p, token_range block, const context& scope);

/// Plans the function that chooses a form for each call, or the other names of a function without a clone.
/// The text goes to the section after the function.
void plan_choice(planner& p, const function_info& f);

}  // namespace sukima::language
