// SPDX-License-Identifier: Apache-2.0
// How long the monitor pauses between two looks.
#pragma once

#include "constants.hpp"

#include <algorithm>
#include <chrono>

namespace sukima::detail {

/// The pauses of the monitor: short at first, longer while nothing happens, and long where a look is dear.
///
/// A look opens a dozen files. That takes 0.2 ms of CPU as a rule, and several milliseconds in an emulated
/// machine, in which the process may get a sixteenth of the CPUs. So the pause follows from the CPU time of
/// the looks. The thread's clock does not count the turns of other threads, so neighbours make no pause
/// longer.
class monitor_pace {
 public:
  using nanoseconds = std::chrono::nanoseconds;

  /// The runtime begins, or no thread was inside for a while.
  void restart() noexcept {
    interval_ = nanoseconds(tuning::first_sample_ns);
    look_ = nanoseconds(0);  // one dear look must not delay the first one of the next program part
  }

  /// A look has taken this CPU time.
  void looked(nanoseconds cpu_time) noexcept { look_ = cpu_time; }

  /// The capacity has changed: the next looks come soon.
  void hurry() noexcept { interval_ = std::min(interval_, nanoseconds(tuning::busy_sample_ns)); }

  /// A judgement follows: the time until the next one doubles.
  void lengthen(bool cpu_is_short) noexcept {
    const auto longest = cpu_is_short ? tuning::busy_sample_ns : tuning::calm_sample_ns;
    interval_ = std::min(2 * interval_, nanoseconds(longest));
  }

  /// The time between two judgements.
  nanoseconds interval() const noexcept { return interval_; }

  /// The pause before the next look.
  nanoseconds pause() const noexcept {
    const nanoseconds for_the_cost =
        std::min(tuning::pause_for_each_look * look_, nanoseconds(tuning::longest_pause_for_looks_ns));
    return std::max(interval_, for_the_cost);
  }

 private:
  nanoseconds interval_{tuning::first_sample_ns};
  nanoseconds look_{0};
};

}  // namespace sukima::detail
