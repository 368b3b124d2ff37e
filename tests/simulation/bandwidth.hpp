// SPDX-License-Identifier: Apache-2.0
// A guest's quota as Linux accounts it (docs/simulation.md: quotas). Each pCPU has a pool of its own, which
// it fills in slices from the guest's. What the vCPUs there have used is subtracted only where the scheduler
// looks: at a tick, at a switch, at a sleep. So a pool may fall below zero: the guest has used more than it
// had, and the next slices pay for it. A pCPU whose pool cannot be filled is throttled until a period begins.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sukima::simulation {

/// Nanoseconds.
struct bandwidth_shape {
  std::uint64_t quota;
  std::uint64_t period;
  std::uint64_t slice;  ///< that a pCPU takes at once
  std::uint64_t phase = 0;  ///< a period begins then, and after each further period
};

class bandwidth {
 public:
  bandwidth(const bandwidth_shape& shape, std::size_t pcpus);

  /// Lets all periods begin up to that time. Times must not go back.
  void advance(std::uint64_t at) noexcept;
  /// The guest's vCPUs used so much on a pCPU. \returns whether they may run on; if not, it is throttled
  bool charge(std::size_t pcpu, std::uint64_t used) noexcept;
  /// None of the guest's vCPUs wants to run there any more: most of the pool goes back.
  void goes_idle(std::size_t pcpu) noexcept;
  bool is_throttled(std::size_t pcpu) const noexcept { return pools_[pcpu].throttled; }
  /// The first time, from `at` on, at which the guest may run there, as far as it is known.
  std::uint64_t usable_at(std::size_t pcpu, std::uint64_t at) const noexcept {
    return std::max(at, pools_[pcpu].throttled ? next_period_ : pools_[pcpu].usable_from);
  }
  /// Nanoseconds in its pool; at least one, unless it is throttled.
  std::uint64_t left(std::size_t pcpu) const noexcept {
    return static_cast<std::uint64_t>(pools_[pcpu].left);
  }

 private:
  struct pool {
    std::int64_t left = 0;
    bool throttled = false;
    std::uint64_t usable_from = 0;  ///< the period in which it was throttled last has ended then
  };
  /// Fills it up to that level, as far as there is time.
  void fill(pool& p, std::int64_t level) noexcept;

  const bandwidth_shape shape_;
  std::int64_t unassigned_;
  std::uint64_t next_period_;
  std::vector<pool> pools_;
  std::vector<std::size_t> throttled_;  ///< pCPUs, the first one first
};

}  // namespace sukima::simulation
