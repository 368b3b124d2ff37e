// SPDX-License-Identifier: Apache-2.0
// A part of a problem that is independent of the rest: some claimants on some pCPUs.
#pragma once

#include <span>

#include "estimate/problem.hpp"

namespace sukima::host {

/// A claimant within a subproblem, or a fixed part of a claimant: its vCPUs in the subproblem, and what they
/// may get.
struct element {
  std::uint32_t claimant = 0;
  /// Its vCPUs get all that they want at any level, because its share was determined in another subproblem.
  bool fixed = false;
  /// The part of the claimant's share that it gets outside the subproblem.
  double offset = 0;
  /// The sum of the bounds of its vCPUs in the subproblem.
  double reach = 0;
  std::uint32_t first = 0, count = 0;  // positions in the subproblem's list of vCPUs
};

/// Either the pCPUs of a subproblem together have less capacity than its elements want, or all elements get
/// what they want.
struct subproblem {
  cpu_set cpus;
  std::vector<element> elements;
  std::vector<std::uint32_t> vcpus;

  std::span<const std::uint32_t> of(const element& e) const { return {vcpus.data() + e.first, e.count}; }
};

/// The most that the element can get in its subproblem.
inline double most_of(const element& e, const claimant& holder) {
  return e.fixed ? e.reach : std::max(0.0, std::min(holder.most - e.offset, e.reach));
}

/// The demand of the element at a level: its claimant gets level × weight, within its bounds.
inline double demand_at(const element& e, const claimant& holder, double level) {
  const double most = most_of(e, holder);
  if (e.fixed || level == infinite) return most;
  return std::clamp(level * holder.weight - e.offset, 0.0, most);
}

/// The level at which the demands add up to `room`; infinite if all demands fit. Takes O(n log n).
double water_level(const subproblem& part, const std::vector<claimant>& claimants, double room);

}  // namespace sukima::host
