// SPDX-License-Identifier: Apache-2.0
// Comments and directives between the user's tokens.
#pragma once

#include "plan/macros.hpp"
#include "plan/planner.hpp"

namespace sukima::language {

/// Prints comments and directives before a token. \param before  its origin; no_token: print all that remain
void side_texts(planner& p, sheet& out, token_index before, const context& scope);

/// Returns the pragmas directly before a token of a copy, within its line, and the comments of a closure.
/// side_texts prints nothing there.
sheet texts_of_copy(planner& p, const run_plan& plan, token_index t, const context& scope);

/// Prints the side texts before a statement that is not planned as a run of tokens. \param t  its first token
void texts_of_statement(planner& p, sheet& out, token_index t, const context& scope);

/// Returns whether the text planned here is the only text that is printed for the user's tokens.
bool is_printed_once(const context& scope);

}  // namespace sukima::language
