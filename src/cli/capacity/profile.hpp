// SPDX-License-Identifier: Apache-2.0
// The machine profile in C++: reading, measuring and printing it.
#pragma once

#include <sukima/capacity.h>
#include <sukima/capacity/profile.h>

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <sukima/calibrate.hpp>

namespace sukima::cli {

struct profile_freer {
  void operator()(sukima_capacity_profile* profile) const { sukima_capacity_profile_free(profile); }
};
using profile_file = std::unique_ptr<sukima_capacity_profile, profile_freer>;

/// The default path of the profile.
std::string profile_path();

/// Returns "is valid", "is old" or "is of another machine", each with the action to take.
std::string state_text(sukima_capacity_profile_state state);

/// Returns the whole profile on one screen. If there are many pairs, it lists those that slow each other down
/// most.
std::string profile_text(const sukima_capacity_profile& profile);

/// Returns the pairs of CPUs out of `among` (empty: all) as lines, the worst first.
std::string pairs_text(const sukima_capacity_profile& profile, const std::set<unsigned>& among);

nlohmann::json profile_json(const sukima_capacity_profile& profile);
nlohmann::json pairs_json(const sukima_capacity_profile& profile, const std::set<unsigned>& among);

/// Prints a message if other programs run. A profile of a busy machine is better than none, but the user
/// should know.
void warn_of_others();

/// Measures with a progress line on a terminal, and prints a message if other programs use the machine.
/// \throws usage_error if the plan names a CPU that this process may not use
sukima::calibration measure_profile(sukima::calibration_plan plan);

}  // namespace sukima::cli
