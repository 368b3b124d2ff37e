// SPDX-License-Identifier: Apache-2.0
// A guest's quota as Linux accounts it (docs/simulation.md: quotas). Each pCPU has its own pool, which it
// fills in slices from the guest's pool. The time that vCPUs used there is subtracted only when the scheduler
// checks: at a tick, at a switch, at a sleep. So a pool may become negative: the guest has used more than it
// had, and later slices pay for that. A pCPU whose pool cannot be filled is throttled until a period begins.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sukima::simulation {

/// All times are in nanoseconds.
struct bandwidth_shape {
  std::uint64_t quota;
  std::uint64_t period;
  std::uint64_t slice;  ///< that a pCPU takes at once
  std::uint64_t phase = 0;  ///< start of a period; all other periods follow from it
};

/// Returns the phase of a run, if that number of runs have phases that are evenly spaced in a period. How
/// long two vCPUs run at the same time depends on the time from the start of a period to the next tick, so
/// the median of a few random phases may be far from that of all.
constexpr std::uint64_t phase_of_run(unsigned run, unsigned runs, std::uint64_t period) noexcept {
  return period * (2 * run + 1) / (2 * runs);
}

class bandwidth {
 public:
  bandwidth(const bandwidth_shape& shape, std::size_t pcpus);

  /// Starts all periods up to that time. Times must not decrease.
  void advance(std::uint64_t at) noexcept;
  /// Records that the guest's vCPUs used that much time on a pCPU. \returns whether they may continue; if
  /// not, the pCPU is throttled
  bool charge(std::size_t pcpu, std::uint64_t used) noexcept;
  /// Records that no vCPU of the guest wants to run there any more. Most of the pool returns to the guest's
  /// pool.
  void goes_idle(std::size_t pcpu) noexcept;
  bool is_throttled(std::size_t pcpu) const noexcept { return pools_[pcpu].throttled; }
  /// Returns the first time, not before `at`, at which the guest may run there, as far as it is known.
  std::uint64_t usable_at(std::size_t pcpu, std::uint64_t at) const noexcept {
    return std::max(at, pools_[pcpu].throttled ? next_period_ : pools_[pcpu].usable_from);
  }
  /// Returns the nanoseconds in its pool; at least one, unless it is throttled.
  std::uint64_t left(std::size_t pcpu) const noexcept {
    return static_cast<std::uint64_t>(pools_[pcpu].left);
  }

 private:
  struct pool {
    std::int64_t left = 0;
    bool throttled = false;
    std::uint64_t usable_from = 0;  ///< end of the period in which it was throttled last
  };
  /// Fills the pool up to that level, as far as the guest's pool allows.
  void fill(pool& p, std::int64_t level) noexcept;

  const bandwidth_shape shape_;
  std::int64_t unassigned_;
  std::uint64_t next_period_;
  std::vector<pool> pools_;
  std::vector<std::size_t> throttled_;  ///< pCPUs, the first one first
};

}  // namespace sukima::simulation
