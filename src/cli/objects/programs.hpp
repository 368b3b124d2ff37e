// SPDX-License-Identifier: Apache-2.0
// Runs the user's program, to record it or to measure the time of its objects. Also makes plans without
// METIS's output.
#pragma once

#include <objects/shared/planner.hpp>

#include <string>
#include <vector>

namespace sukima::cli::objects {

namespace model = sukima::objects::model;

/// Makes a plan without output of METIS, which prints a remark if a group is empty. The remark does not
/// concern the user.
model::plan quiet_plan(const model::description& program, const model::plan_request& request);

/// Runs the program for at most this number of seconds. Its output goes to standard error.
/// \returns its description
/// \throws usage_error if it runs no objects, fails, or cannot be described; start_error
model::description record_program(const std::vector<std::string>& program, double seconds);

/// Runs the program with a plan. Its standard output is discarded.
/// \param plan  the name of a plan file
/// \returns the time for which its objects ran, in nanoseconds
/// \throws usage_error if it fails; start_error
double time_program(const std::vector<std::string>& program, const std::string& plan);

}  // namespace sukima::cli::objects
