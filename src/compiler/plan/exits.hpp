// SPDX-License-Identifier: Apache-2.0
// return, break, continue and goto out of constructs: they leave level by level, from the innermost outwards.
#pragma once

#include "plan/planner.hpp"

namespace sukima::language {

/// Returns whether a jump leaves a construct, so that more than the jump itself must be printed.
bool leaves_something(const planner& p, const jump& j, const context& scope);

/// Plans a jump that leaves constructs. \param computed  of a return: the value, if it has already been
/// computed
void plan_jump(planner& p, sheet& out, const jump& j, const context& scope, const std::string& computed = "");

}  // namespace sukima::language
