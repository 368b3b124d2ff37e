// SPDX-License-Identifier: Apache-2.0
// Functions of the user's with a body.
#pragma once

#include "plan/planner.hpp"

namespace sukima::language {

/// A function, with all that stands in front of it and after it.
void plan_function(planner& p, const function_info& f);

/// Types and static variables of a function that its blocks need outside of it are moved in front of it
/// (moves.cpp).
void move_declarations(planner& p, const function_info& f);

}  // namespace sukima::language
