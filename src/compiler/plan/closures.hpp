// SPDX-License-Identifier: Apache-2.0
// Nested functions. The block becomes a function over a frame that is a variable of its creator. For each
// variable around the block that the block uses, the frame holds its value if no code changes it later,
// otherwise its address.
#pragma once

#include "plan/planner.hpp"

namespace sukima::language {

// closures.cpp
/// Returns whether the variable has its last value when the closure is created, so that a copy is enough.
bool is_final_at_birth(const plan_input& in, const clang::VarDecl* variable, const closure_declaration& c,
                       const context& scope);

/// Adds text of a closure, given by its first token, after the declaration that contains a variable's name.
void set_after_declaration(planner& p, token_index closure, token_index name, const std::string& text);
/// Returns all these texts, joined.
std::string joined(const later_texts& texts);

/// Removes comments that have been printed with a closure, so that they are not printed again after it.
void drop_side_texts(planner& p, sheet& out, const closure_declaration& c, const context& scope);

/// Plans a closure's declaration, which may be a forward declaration or may include its block.
void plan_closure(planner& p, sheet& out, const closure_declaration& c, const context& scope);

// closure_calls.cpp
/// Returns the variable that holds the tickets of the block around a closure.
std::string block_tickets(const plan_input& in, token_index closure);

/// Declares the variables that hold tickets at the start of their blocks, because no jump within a block
/// passes that place.
void declare_tickets(planner& p, const function_info& f);

/// Returns the text before a called pointer that checks it, if calls are checked. The end of the check
/// follows the pointer.
std::string begin_check(const planner& p, const closure_call& call);

/// Plans a function that calls closures through pointers of this type. \returns its name
std::string closure_caller(planner& p, const closure_call& call);

/// Plans a call of a variadic closure through a pointer. It uses no function, because a function could not
/// pass the arguments on.
void variadic_call(planner& p, sheet& out, const closure_call& call, const context& scope);

// closure_frames.cpp
/// Finds the variables of a function that are in frames of its closures. \returns their names in its body
std::map<const clang::VarDecl*, std::string> place_in_frames(planner& p, const function_info& f,
                                                             const context& scope);

/// Plans the replacement of such a variable's declaration.
void plan_placed(planner& p, sheet& out, const placed_variable& one, const context& scope);

// closure_exits.cpp
/// Returns the member of frames that holds the address of a label's saved place.
std::string exit_member(const plan_input& in, const clang::LabelDecl* label);

/// Returns the labels outside a closure that are targets of gotos in it, or of gotos in its inner closures.
std::vector<const clang::LabelDecl*> labels_outside(const plan_input& in, const closure_declaration& c);

/// Returns these members of a closure's frame.
std::string exit_fields(const plan_input& in, const closure_declaration& c);

/// Plans the places to which a closure's gotos return, at the place where the closure is created.
void begin_exits(planner& p, sheet& out, const closure_declaration& c, const std::string& frame,
                 const context& scope);

/// Plans a goto out of a closure.
void plan_closure_jump(const plan_input& in, sheet& out, token_index keyword, const context& scope);

}  // namespace sukima::language
