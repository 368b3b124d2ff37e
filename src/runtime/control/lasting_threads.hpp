// SPDX-License-Identifier: Apache-2.0
// How many threads of other runtimes have computed for a while.
#pragma once

#include "constants.hpp"

#include <sukima/detail/atomics.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>

namespace sukima::detail {

/// The least number of threads of others between two samples. Threads that begin and end in between are not
/// in it, however many they are.
class lasting_threads {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  /// So few are left. Any thread.
  void drop_to(unsigned left) noexcept {
    unsigned least = least_.load(std::memory_order_relaxed);
    while (left < least && !least_.compare_exchange_weak(least, left, std::memory_order_relaxed)) {
    }
  }

  /// For the monitor.
  /// \param count     how many compute now
  /// \param followed  what it returned last
  /// \return how many have computed since the sample before, if `tuning::beside_sample_ns` have passed since
  /// then; a sample before that only lowers the number
  unsigned sample(unsigned count, unsigned followed, time_point now) noexcept {
    const unsigned lasting = std::min(count, least_.load(std::memory_order_relaxed));
    if (now - since_ < std::chrono::nanoseconds(tuning::beside_sample_ns)) return std::min(lasting, followed);
    since_ = now;
    least_.store(count, std::memory_order_relaxed);
    return lasting;
  }

 private:
  /// Since `since_`. Threads that end while it is stored count until the next sample.
  /// no partner: each sample also has the number of its moment
  atomic<unsigned> least_{0};
  time_point since_{};  ///< only for the monitor
};

}  // namespace sukima::detail
