// SPDX-License-Identifier: Apache-2.0
// Worker functions: their prototypes, their C entries, and worker_local objects.
#pragma once

#include "plan/planner.hpp"

namespace sukima::language {

/// Prints the prototypes of the worker functions whose first declaration is among these tokens.
void declare_workers(planner& p, token_range whole);

/// Plans the C entry of a worker function, which passes the arguments in a struct to the code that calls the
/// worker version.
void plan_entry(planner& p, const function_info& f);

/// Returns the name of a function that calls a worker function through a pointer from plain C.
std::string pointer_entry(planner& p, const worker_call& call);

/// Plans `worker_local T x = INIT;`, which becomes a constant image of x, and an object by which the runtime
/// finds the worker's x.
void plan_worker_local(planner& p, token_range range);

/// Returns text that makes all symbols of a worker function weak if its own attribute does so; otherwise
/// empty.
std::string weak_words(const clang::FunctionDecl* f);

}  // namespace sukima::language
