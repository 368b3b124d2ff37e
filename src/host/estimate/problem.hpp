// SPDX-License-Identifier: Apache-2.0
// The problem in numbers only: capacities, allowed pCPUs, weights and bounds.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "estimate/cpu_set.hpp"

namespace sukima::host {

inline constexpr double infinite = std::numeric_limits<double>::infinity();
/// Amounts of CPU below this are rounding. Flows only find cuts, and shares are computed from sets, so that
/// it does not add up.
inline constexpr double rounding = 1e-10;
/// The same for a sum over many vCPUs or pCPUs, whose rounding grows with it.
inline double rounding_of(double sum) { return rounding * std::max(1.0, std::abs(sum)); }
/// Stands for the weight 0: a claimant with it gets what those with weights leave.
inline constexpr double least_weight = 0x1p-40;
/// A weight below this counts as 0: beside one of 65,535 too few of its digits would be left.
inline constexpr double negligible_weight = 1e-6;

/// A vCPU. It gets at most `most`, from pCPUs of `may`; of these it prefers `soft` (empty: none).
struct runnable {
  cpu_set may, soft;
  double most = 1;
  std::uint32_t claimant = 0;
};

/// An owner of a weight: a vCPU, or all vCPUs of a VM. Its vCPUs are those numbered first … first + count −
/// 1.
struct claimant {
  double weight = 1, most = infinite;
  std::uint32_t first = 0, count = 1;
};

/// A cap of a VM whose vCPUs have weights of their own: a bound on the sum over these claimants, which have
/// one vCPU and the same weight each.
struct joint_cap {
  double most = infinite;
  std::uint32_t first = 0, count = 0;
};

/// Shares are the lexicographically largest sorted vector of what each claimant gets, divided by its weight.
struct problem {
  std::vector<double> capacity;  // of each pCPU
  std::vector<runnable> vcpus;
  std::vector<claimant> claimants;
  std::vector<joint_cap> caps;
};

}  // namespace sukima::host
