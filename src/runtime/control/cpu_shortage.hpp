// SPDX-License-Identifier: Apache-2.0
// Whether CPU is short: do the workers wait for CPUs that others use?
#pragma once

#include <capacity/shared/schedstat.h>
#include <capacity/shared/shortage.h>

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

namespace sukima::detail {

struct runtime_core;

/// Samples how long each worker's thread ran and waited for a CPU. The monitor samples and judges; any
/// thread asks.
class cpu_shortage {
 public:
  explicit cpu_shortage(runtime_core& core) : core_(core) {}
  cpu_shortage(const cpu_shortage&) = delete;
  cpu_shortage& operator=(const cpu_shortage&) = delete;

  /// Did the workers lately wait for a CPU for a tenth of the time that they wanted one?
  bool is_short() const noexcept { return short_.load(std::memory_order_relaxed); }
  /// Does an idle worker lose more by sleeping than by using up its turn? So it is where others compete for
  /// its CPU, but no quota is used up.
  bool spinning_keeps_turn() const noexcept;

  // For the monitor.
  /// Reads the workers' times.
  void sample();
  /// Judges by the samples since the last judgement, if they are enough, and notes a change.
  void judge();
  /// Did a worker hardly run for long, though it wanted to? Of the samples since the last call.
  bool take_starved() noexcept { return std::exchange(starved_, false); }

 private:
  /// What the kernel said of one worker's thread at the last sample.
  struct worker_times {
    int thread = 0;  ///< 0: unknown
    cap_schedstat latest{};
    std::uint64_t starving_ns = 0;  ///< waited since it last got a tenth of the CPU that it wanted
  };

  runtime_core& core_;
  std::atomic<bool> short_{false};  ///< no partner: a hint
  // Only for the monitor.
  cap_shortage judgement_{};
  std::vector<worker_times> workers_;
  std::uint64_t sampled_at_ = 0;  ///< tick
  bool starved_ = false;
};

}  // namespace sukima::detail
