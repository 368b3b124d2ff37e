// SPDX-License-Identifier: Apache-2.0
// How long the monitor pauses between two samples.
#pragma once

#include "constants.hpp"

#include <algorithm>
#include <chrono>

namespace sukima::detail {

/// The pauses of the monitor: short at first, longer while nothing happens, and long if a sample is
/// expensive.
///
/// A sample opens a dozen files. That usually takes 0.2 ms of CPU, and several milliseconds in an emulated
/// machine, in which the process may get a sixteenth of the CPUs. So the pause depends on the CPU time of the
/// samples. The thread's CPU clock does not count the turns of other threads, so neighbours do not make the
/// pauses longer.
class monitor_pace {
 public:
  using nanoseconds = std::chrono::nanoseconds;

  /// Called when the runtime begins, or if no thread was inside for some time.
  void restart() noexcept {
    interval_ = nanoseconds(tuning::first_sample_ns);
    sample_ = nanoseconds(0);  // an expensive sample must not delay the first one of the next program part
  }

  /// Records the CPU time of a sample.
  void sampled(nanoseconds cpu_time) noexcept { sample_ = cpu_time; }

  /// Called when the capacity has changed: the next samples come soon.
  void hurry() noexcept { interval_ = std::min(interval_, nanoseconds(tuning::busy_sample_ns)); }

  /// Called before a judgement: the time until the next one doubles.
  void lengthen(bool cpu_is_short) noexcept {
    const auto longest = cpu_is_short ? tuning::busy_sample_ns : tuning::calm_sample_ns;
    interval_ = std::min(2 * interval_, nanoseconds(longest));
  }

  /// The time between two judgements.
  nanoseconds interval() const noexcept { return interval_; }

  /// The pause before the next sample.
  nanoseconds pause() const noexcept {
    const nanoseconds for_the_cost =
        std::min(tuning::pause_for_each_sample * sample_, nanoseconds(tuning::longest_pause_for_samples_ns));
    return std::max(interval_, for_the_cost);
  }

 private:
  nanoseconds interval_{tuning::first_sample_ns};
  nanoseconds sample_{0};
};

}  // namespace sukima::detail
