// SPDX-License-Identifier: Apache-2.0
// Uses of macros. If no token in a use is edited, it is printed as the user wrote it; otherwise the tokens of
// its expansion are printed. A system header's macro remains a call if only its arguments are edited, because
// its meaning for the C compiler may differ from that for Clang.
#pragma once

#include "plan/planner.hpp"

namespace sukima::language {

/// A run of tokens while it is planned.
struct run_plan {
  token_run run;
  clang::SourceLocation expanded;  ///< the beginning of the last use that needs expansion
  std::set<unsigned> written_macros;  ///< as in unit_names, but of this run only
};

/// Plans the token of a macro, and more of the same use. \returns the next token
token_index plan_macro(planner& p, run_plan& plan, token_index token, const context& scope);

}  // namespace sukima::language
