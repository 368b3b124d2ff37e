// SPDX-License-Identifier: Apache-2.0
// Sequential clones. A worker function that has one is printed three times (function_form). Other functions
// call it by a function that chooses a form. A clone keeps the choice points of dynamic_wind, try and join,
// for two reasons: older choice points can be split while the clone runs, and a jump out of the clone finds
// each AFTER.
#pragma once

#include "plan/planner.hpp"

namespace sukima::language {

/// The functions that have a clone: each is defined in this unit, and all its text can be printed several
/// times.
std::set<const clang::FunctionDecl*> functions_with_clones(const plan_input& in);

/// The functions with clones that an iteration of a loop by successor calls: the iteration's poll serves for
/// the call, too. That saves one poll for each node of a search. Above all it saves the poll that would keep
/// all arguments of the call for the parallel form: lowest-bit n-queens by gcc needs 1.11 times the
/// instructions of plain C instead of 1.45.
std::set<const clang::FunctionDecl*> functions_called_after_polls(const plan_input& in);

/// Whether the poll of each iteration serves for the calls in the loop, too.
bool polls_for_its_calls(const plan_input& in, const construct& loop);

/// The function that a call of `f` leads to here. An external function without a clone has two more names in
/// the unit that defines it, because other units cannot know that it has none. A local one needs no such
/// names.
std::string form_name(const plan_input& in, const clang::FunctionDecl* f, const context& where);

/// The prototypes of a worker function's forms, behind its own.
std::string form_prototypes(const plan_input& in, const clang::FunctionDecl* f, const std::string& words);

/// The context of a form of a function.
context context_of_form(const plan_input& in, const function_info& f, function_form form);

/// The text at the beginning of a form's block: the clone's poll, unless there is a polled_clone.
std::string begin_form(const plan_input& in, const function_info& f, const context& where);

/// The poll of a clone: an expression that says whether the parallel form must continue.
std::string clone_poll(const context& where);

/// Whether a block calls a function with a clone, which polls.
bool calls_a_clone(const plan_input& in, token_range block);

/// The context of a block's second copy in a clone, in its parallel form.
context context_of_rest(planner& p, token_range block, const context& where);

/// Plans the function that chooses a form for each call, or the other names of a function without a clone.
/// The text goes to the section after the function.
void plan_choice(planner& p, const function_info& f);

}  // namespace sukima::language
