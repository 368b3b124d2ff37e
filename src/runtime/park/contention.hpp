// SPDX-License-Identifier: Apache-2.0
// How long searches stay short after a sign that others want the CPUs.
//
// A sign that comes soon after searches became long again was probably caused by them, as under a cap that
// only long searches use up. So the next memory is four times as long, up to a limit, and searches become
// long ever more rarely. After a longer silence it starts from the shortest time again.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace sukima::detail {

/// In ticks. Any worker may use it. A value that is read late makes a search too long or too short, no more.
class contention {
 public:
  /// Records a sign. Of workers that notice the same sign at once, one records it.
  /// \param least  the shortest memory \param most  the longest one
  void note(std::uint64_t now, std::uint64_t least, std::uint64_t most) noexcept {
    std::uint64_t until = until_.load(std::memory_order_relaxed);
    std::uint64_t memory = std::max(memory_.load(std::memory_order_relaxed), least);
    if (now < until) {
      if (now + memory > until) until_.store(now + memory, std::memory_order_relaxed);
      return;
    }
    const bool recurs = until != 0 && now - until < memory;
    memory = recurs ? std::min(4 * memory, most) : least;
    if (until_.compare_exchange_strong(until, now + memory, std::memory_order_relaxed))
      memory_.store(memory, std::memory_order_relaxed);
  }
  bool is_recent(std::uint64_t now) const noexcept { return now < until_.load(std::memory_order_relaxed); }

 private:
  /// Tick until which searches are short. no partner: a hint
  std::atomic<std::uint64_t> until_{0};
  /// How long the last sign that came while searches were long counts. no partner: a hint
  std::atomic<std::uint64_t> memory_{0};
};

}  // namespace sukima::detail
