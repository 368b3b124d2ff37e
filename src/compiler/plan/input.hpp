// SPDX-License-Identifier: Apache-2.0
// The facts that the planner computes before it begins.
#pragma once

#include "plan/planner.hpp"

namespace sukima::language {

plan_input input_of(clang::CompilerInstance& compiler, const unit& u, const semantic_index& index,
                    const plan_options& options);

/// Returns the comments and directives before tokens of the source, from the token after `after` up to
/// `last`. Logarithmic.
std::ranges::subrange<std::vector<side_text>::const_iterator> texts_in(const plan_input& in,
                                                                       token_index after, token_index last);

/// Returns whether this is a call of plain C by a worker function, during which a closure's goto may leave
/// the function.
bool leaves_for_c(const plan_input& in, token_index open, const context& scope);

/// Returns whether a worker calls another one among these tokens, because the called one may note where its
/// own choice points end.
bool calls_a_worker(const plan_input& in, token_range tokens);

/// Returns whether a function that first checks the pointer calls the closure.
bool is_pointer_call(const plan_input& in, const closure_call& call);

}  // namespace sukima::language
