// SPDX-License-Identifier: Apache-2.0
// Support for programs that run on several nodes: descriptions of the tasks that travel, and entries.
#pragma once

#include "plan/planner.hpp"

namespace sukima::language {

/// Returns the beginning of the kind of a construct that hands out tasks: the macro's name and `(`. If the
/// tasks may travel, the address of their description follows, which is declared before.
/// \param form  form of the construct: `DO_TWO`, `LOOP` or `SUCCESSOR_LOOP`
std::string begin_kind(planner& p, const construct& c, const std::string& form);

/// Returns the call by which a function's C entry enters the runtime or the cluster.
/// \param result  the member of the frame that holds the result; empty: there is none
std::string enter_call(const planner& p, const clang::FunctionDecl* function, const std::string& run,
                       const std::string& frame, const std::string& result);

}  // namespace sukima::language
