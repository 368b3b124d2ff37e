// SPDX-License-Identifier: Apache-2.0
// Comments and directives between the user's tokens.
#pragma once

#include "plan/macros.hpp"
#include "plan/planner.hpp"

namespace sukima::language {

/// Comments and directives in front of a token. \param before  its origin; no_token: all that are left
void side_texts(planner& p, sheet& out, token_index before, const context& where);

/// The pragmas directly in front of a token of a copy, within its line, and a closure's comments. side_texts
/// prints nothing there.
sheet texts_of_copy(planner& p, const run_plan& plan, token_index t, const context& where);

/// Prints the side texts in front of a statement that is not planned as a run of tokens. \param t  its first
/// token
void texts_of_statement(planner& p, sheet& out, token_index t, const context& where);

/// Whether the text planned here is the only text that the user's tokens become.
bool is_printed_once(const context& where);

}  // namespace sukima::language
