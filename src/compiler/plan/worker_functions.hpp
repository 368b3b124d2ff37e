// SPDX-License-Identifier: Apache-2.0
// Worker functions: their prototypes, their C entries, and worker_local objects.
#pragma once

#include "plan/planner.hpp"

namespace sukima::language {

/// The prototypes of the worker functions that are declared first in these tokens.
void declare_workers(planner& p, token_range whole);

/// The C entry of a worker function, which passes the arguments in a struct to the code that calls the worker
/// version.
void plan_entry(planner& p, const function_info& f);

/// The name of a function that calls a worker function through a pointer from plain C.
std::string pointer_entry(planner& p, const worker_call& call);

/// `worker_local T x = INIT;` becomes a constant image of x, and an object by which the runtime finds the
/// worker's x.
void plan_worker_local(planner& p, token_range range);

/// What makes each symbol of a worker function weak whose own attribute says so; else empty.
std::string weak_words(const clang::FunctionDecl* f);

}  // namespace sukima::language
