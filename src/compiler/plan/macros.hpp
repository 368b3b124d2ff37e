// SPDX-License-Identifier: Apache-2.0
// Uses of macros: as the user wrote them where nothing in them is edited, else the tokens that they become. A
// system header's macro stays a call if only its arguments are edited: to the C compiler it may mean
// something else than to Clang.
#pragma once

#include "plan/planner.hpp"

namespace sukima::language {

/// A run of tokens while it is being planned.
struct run_plan {
  token_run run;
  clang::SourceLocation expanded;  ///< where the use begins that was found last to need expansion
  std::set<unsigned> written_macros;  ///< as in unit_names, of this run alone
};

/// Plans the token of a macro, and more of the same use. \returns the next one
token_index plan_macro(planner& p, run_plan& plan, token_index token, const context& where);

}  // namespace sukima::language
