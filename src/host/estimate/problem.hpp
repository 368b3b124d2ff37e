// SPDX-License-Identifier: Apache-2.0
// The problem in numbers: capacities, allowed pCPUs, weights and bounds.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "estimate/cpu_set.hpp"

namespace sukima::host {

inline constexpr double infinite = std::numeric_limits<double>::infinity();
/// Amounts of CPU below this count as rounding errors. Flows are used only to find cuts, and shares are
/// computed from sets, so such errors do not accumulate.
inline constexpr double rounding = 1e-10;
/// The same for a sum over many vCPUs or pCPUs, whose rounding error grows with the sum.
inline double rounding_of(double sum) { return rounding * std::max(1.0, std::abs(sum)); }
/// Represents the weight 0: such a claimant gets what claimants with a weight leave.
inline constexpr double least_weight = 0x1p-40;
/// A smaller weight counts as 0, because in a sum with a weight of 65,535 too few of its digits would remain.
inline constexpr double negligible_weight = 1e-6;

/// A vCPU. It gets at most `most`, from the pCPUs in `may`. It prefers those in `soft` (empty: no
/// preference).
struct runnable {
  cpu_set may, soft;
  double most = 1;
  std::uint32_t claimant = 0;
};

/// The owner of a weight: a vCPU, or all vCPUs of a VM. Its vCPUs have the numbers first … first + count − 1.
struct claimant {
  double weight = 1, most = infinite;
  std::uint32_t first = 0, count = 1;
};

/// A cap of a VM whose vCPUs have weights of their own: a bound on the sum over these claimants. Each of them
/// has one vCPU, and all have the same weight.
struct joint_cap {
  double most = infinite;
  std::uint32_t first = 0, count = 0;
};

/// The shares are the solution whose sorted vector of each claimant's amount divided by its weight is
/// lexicographically largest.
struct problem {
  std::vector<double> capacity;  // of each pCPU
  std::vector<runnable> vcpus;
  std::vector<claimant> claimants;
  std::vector<joint_cap> caps;
};

}  // namespace sukima::host
