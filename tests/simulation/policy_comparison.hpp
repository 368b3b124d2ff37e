// SPDX-License-Identifier: Apache-2.0
// The wait policies of the runtime in many simulated cells, and how far the default is from the best one.
#pragma once

#include "overcommit.hpp"

#include <string>
#include <vector>

namespace sukima::simulation {

/// The default policy is the first one.
inline const std::vector<std::string> compared_policies{"adaptive", "block", "spin", "pause"};

/// Machines that share CPUs in some way, and the search that they run.
struct policy_cell {
  std::string name;
  cell shape;  ///< without the settings of the runtime
};

/// The cells of the experiment `policies`.
std::vector<policy_cell> policy_cells();

/// Returns the simulated milliseconds per machine, by policy.
std::vector<double> times_of(const policy_cell& c);

/// Returns the first time divided by the smallest one.
double behind_best(const std::vector<double>& times);

}  // namespace sukima::simulation
