// SPDX-License-Identifier: Apache-2.0
// Running the user's program: to record it, or to see how long its objects take; and planning without noise.
#pragma once

#include <objects/shared/planner.hpp>

#include <string>
#include <vector>

namespace sukima::cli::objects {

namespace model = sukima::objects::model;

/// Plans. METIS prints a remark where it leaves a group empty, which is no concern of the user.
model::plan quiet_plan(const model::description& program, const model::plan_request& request);

/// Runs the program for at most so many seconds; what it prints goes to standard error.
/// \returns its description
/// \throws usage_error if it runs no objects, fails, or cannot be described; start_error
model::description record_program(const std::vector<std::string>& program, double seconds);

/// Runs the program by a plan; what it prints to standard output is dropped.
/// \param plan  the name of a plan file
/// \returns for how long its objects ran, in nanoseconds
/// \throws usage_error if it fails; start_error
double time_program(const std::vector<std::string>& program, const std::string& plan);

}  // namespace sukima::cli::objects
