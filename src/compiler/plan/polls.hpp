// SPDX-License-Identifier: Apache-2.0
// Where worker functions poll for requests of other workers.
#pragma once

#include "plan/planner.hpp"

namespace sukima::language {

/// Returns whether a worker function is known to contain a construct that polls. One without such constructs
/// must not poll, because its callers may have changed what their PUTs read.
bool contains_polls(const plan_input& in, const clang::FunctionDecl* function);

/// Returns whether the poll of an iteration can be delayed until the iteration's call, so that no PUT sees
/// the difference:
/// - the body has one call, which runs at most once an iteration;
/// - PUT changes nothing that the body may have read before;
/// - the called function contains polls anyway, or the changes of the body before the call concern only the
///   body.
bool polls_at_its_call(const plan_input& in, const construct& loop);

}  // namespace sukima::language
