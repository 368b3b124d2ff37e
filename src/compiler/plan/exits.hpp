// SPDX-License-Identifier: Apache-2.0
// return, break, continue and goto out of constructs: level by level, the innermost first.
#pragma once

#include "plan/planner.hpp"

namespace sukima::language {

/// Whether a jump leaves a construct, so that more than the jump itself is printed.
bool leaves_something(const planner& p, const jump& j, const context& where);

/// A jump that leaves constructs. \param computed  of a return: the value, where it has been computed already
void plan_jump(planner& p, sheet& out, const jump& j, const context& where, const std::string& computed = "");

}  // namespace sukima::language
