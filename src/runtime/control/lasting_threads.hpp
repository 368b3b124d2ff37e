// SPDX-License-Identifier: Apache-2.0
// How many threads of other runtimes have computed for some time.
#pragma once

#include "constants.hpp"

#include <sukima/detail/atomics.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>

namespace sukima::detail {

/// The smallest number of threads of other runtimes between two samples. It does not include threads that
/// begin and end in between, however many they are.
class lasting_threads {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  /// Records that only this number is left. May be called by any thread.
  void drop_to(unsigned left) noexcept {
    unsigned least = least_.load(std::memory_order_relaxed);
    while (left < least && !least_.compare_exchange_weak(least, left, std::memory_order_relaxed)) {
    }
  }

  /// Only the monitor calls this.
  /// \param count     how many compute now
  /// \param followed  the last result of this function
  /// \return how many have computed since the last sample, if that was at least `tuning::beside_sample_ns`
  /// ago; otherwise at most `followed`
  unsigned sample(unsigned count, unsigned followed, time_point now) noexcept {
    const unsigned lasting = std::min(count, least_.load(std::memory_order_relaxed));
    if (now - since_ < std::chrono::nanoseconds(tuning::beside_sample_ns)) return std::min(lasting, followed);
    since_ = now;
    least_.store(count, std::memory_order_relaxed);
    return lasting;
  }

 private:
  /// The smallest number since `since_`. Threads that end while it is being stored count until the next
  /// sample.
  /// no partner: each sample also has the number of its moment
  atomic<unsigned> least_{0};
  time_point since_{};  ///< used by the monitor only
};

}  // namespace sukima::detail
