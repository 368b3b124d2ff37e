// SPDX-License-Identifier: Apache-2.0
// Sequential clones: a worker function that has one is printed three times (function_form), and where the
// others call it stands a function that chooses. A clone keeps the choice points of dynamic_wind, try and
// join: so what is older than it can be split while it runs, and what leaves it finds each AFTER.
#pragma once

#include "plan/planner.hpp"

namespace sukima::language {

/// The functions that have one: each is defined in this unit, and everything in it can be printed several
/// times.
std::set<const clang::FunctionDecl*> functions_with_clones(const plan_input& in);

/// Those of them that an iteration of a loop by successor calls: its poll serves for the call, too. One
/// poll less for each node of a search, and above all none that keeps all arguments of a call for the
/// parallel form (lowest-bit n-queens by gcc: 1.11 times the instructions of plain C instead of 1.45).
std::set<const clang::FunctionDecl*> functions_called_after_polls(const plan_input& in);

/// Whether the poll of each iteration serves for the calls in the loop, too.
bool polls_for_its_calls(const plan_input& in, const construct& loop);

/// The function that a call of `f` from here leads to. Without a clone of its own an external function has
/// two more names in the unit that defines it, because other units cannot know; a local one has none.
std::string form_name(const plan_input& in, const clang::FunctionDecl* f, const context& where);

/// The prototypes of a worker function's forms, behind its own.
std::string form_prototypes(const plan_input& in, const clang::FunctionDecl* f, const std::string& words);

/// The context of a form of a function.
context context_of_form(const plan_input& in, const function_info& f, function_form form);

/// What stands at the beginning of a form's block: the clone's poll, unless there is a polled_clone.
std::string begin_form(const plan_input& in, const function_info& f, const context& where);

/// The poll of a clone, an expression: must the parallel form go on?
std::string clone_poll(const context& where);

/// Does a block call a function with a clone, which polls?
bool calls_a_clone(const plan_input& in, token_range block);

/// The context of the parallel form of a block that stands in a clone a second time.
context context_of_rest(planner& p, token_range block, const context& where);

/// The function that chooses a form for each call, or the other names of one without a clone; in the section
/// after the function.
void plan_choice(planner& p, const function_info& f);

}  // namespace sukima::language
