// SPDX-License-Identifier: Apache-2.0
// The constructs of the language, and their common functions. To add one, see src/compiler/README.md.
#pragma once

#include "plan/planner.hpp"

namespace sukima::language {

// choice_points.cpp
/// Returns the number in the generated names.
inline std::string number_of(const construct& c) { return std::to_string(c.number); }

/// Plans any construct.
void plan_construct(planner& p, sheet& out, const construct& c, const context& scope);

/// Declares the choice point and fills it in. It is the youngest one from here to the end of the part that
/// stays in the function.
level begin_choice_point(planner& p, sheet& out, const construct& c, const std::vector<token_range>& outlined,
                         const char* head, const context& scope);

/// Returns the context within a construct, whose choice point is the youngest.
context inside_of(const plan_input& in, const level& l, const context& scope);

/// Plans a function over the choice point that ends with a block of the user.
void outline_block(planner& p, const std::string& signature, const construct& c, const level& l,
                   token_range block, const context& scope, const std::string& prologue, context inside);

/// Plans PUT as a function. \returns the arguments of the kind that name it and the task
std::string put_function(planner& p, const construct& c, const level& l, const context& scope);

/// Plans guard and split as functions. \returns the arguments of the kind that name them
std::string hint_functions(planner& p, const construct& c, const level& l, const context& scope);

/// Plans CONDITION and NEXT of a loop by successor as a function. \returns the argument of the kind that
/// names it
std::string successor_function(planner& p, const construct& c, const level& l, const context& scope);

/// Prints the kind of a construct that hands out tasks, before the function.
/// \param macro      its beginning, as begin_kind (cluster.hpp) returns it
/// \param functions  the macro's arguments after the choice point's type, with a comma before them
void print_kind(planner& p, const std::string& name, const std::string& macro, const std::string& functions);

/// Returns the blocks that the sequential form omits, in code that never runs, so that their names count as
/// used.
std::string dead_blocks(planner& p, const construct& c, const context& scope);

// do_two.cpp
void plan_do_two(planner& p, sheet& out, const construct& c, const context& scope);

// dynamic_wind.cpp
void plan_dynamic_wind(planner& p, sheet& out, const construct& c, const context& scope);

// try.cpp
void plan_try(planner& p, sheet& out, const construct& c, const context& scope);

void plan_throw(planner& p, sheet& out, const construct& c, const context& scope);

// join/join.cpp
void plan_join(planner& p, sheet& out, const construct& c, const context& scope);

// loop.cpp
void plan_loop(planner& p, sheet& out, const construct& c, const context& scope);

}  // namespace sukima::language
