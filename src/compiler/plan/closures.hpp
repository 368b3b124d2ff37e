// SPDX-License-Identifier: Apache-2.0
// Nested functions. The block becomes a function over a frame in its creator's frame. The closure's frame
// holds each variable from around the block that the block uses: its value if no code changes the variable
// any more, else its address.
#pragma once

#include "plan/planner.hpp"

namespace sukima::language {

// closures.cpp
/// Whether the variable has its last value when the closure is created, so that a copy is enough.
bool is_final_at_birth(const plan_input& in, const clang::VarDecl* variable, const closure_declaration& c,
                       const context& where);

/// Adds text of a closure, given by its first token, after the declaration that contains a variable's name.
void set_after_declaration(planner& p, token_index closure, token_index name, const std::string& text);
/// All of them.
std::string joined(const later_texts& texts);

/// Drops comments that have been printed with a closure, so that they are not printed again after it.
void drop_side_texts(planner& p, sheet& out, const closure_declaration& c, const context& where);

/// A closure's declaration, ahead or with its block.
void plan_closure(planner& p, sheet& out, const closure_declaration& c, const context& where);

// closure_calls.cpp
/// The variable that holds the tickets of the block around a closure.
std::string block_tickets(const plan_input& in, token_index closure);

/// Declares the variables that hold tickets at the start of their blocks, where no jump within the block goes
/// past them.
void declare_tickets(planner& p, const function_info& f);

/// The text in front of a called pointer that checks it, if calls are checked. The end follows the pointer.
std::string begin_check(const planner& p, const closure_call& call);

/// Plans a function that calls closures through pointers of this type. \returns its name
std::string closure_caller(planner& p, const closure_call& call);

/// A call of a variadic closure through a pointer. A function could not pass its arguments on.
void variadic_call(planner& p, sheet& out, const closure_call& call, const context& where);

// closure_frames.cpp
/// Finds the variables of a function that live in frames of its closures. \returns their names in its body
std::map<const clang::VarDecl*, std::string> place_in_frames(planner& p, const function_info& f,
                                                             const context& where);

/// The replacement of such a variable's declaration.
void plan_placed(planner& p, sheet& out, const placed_variable& one, const context& where);

// closure_exits.cpp
/// The member of frames that holds the address of a label's place.
std::string exit_member(const plan_input& in, const clang::LabelDecl* label);

/// Labels outside a closure that gotos in it lead to, including the gotos of closures in it.
std::vector<const clang::LabelDecl*> labels_outside(const plan_input& in, const closure_declaration& c);

/// These members of a closure's frame.
std::string exit_fields(const plan_input& in, const closure_declaration& c);

/// Plans the places to which a closure's gotos lead back, where the closure is created.
void begin_exits(planner& p, sheet& out, const closure_declaration& c, const std::string& frame,
                 const context& where);

/// A goto out of a closure.
void plan_closure_jump(const plan_input& in, sheet& out, token_index keyword, const context& where);

}  // namespace sukima::language
