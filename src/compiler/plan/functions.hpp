// SPDX-License-Identifier: Apache-2.0
// Definitions of the user's functions.
#pragma once

#include "plan/planner.hpp"

namespace sukima::language {

/// Plans a function, with all text before and after it.
void plan_function(planner& p, const function_info& f);

/// Moves types and static variables of a function before it if blocks that become functions need them
/// (moved_declarations.cpp).
void move_declarations(planner& p, const function_info& f);

}  // namespace sukima::language
