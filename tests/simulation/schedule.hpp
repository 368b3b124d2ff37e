// SPDX-License-Identifier: Apache-2.0
// What the seed of a simulated run decides: which thread runs next, for how many steps, and what disturbs it.
#pragma once

#include "../runtime/random/numbers.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace sukima::simulation {

/// Drawn once from the seed, because different bugs want different disturbances. "One in N": at one decision
/// in N; 0: never.
struct habits {
  std::uint64_t gap = 1;  ///< mean number of steps between two decisions
  std::uint64_t pace = 1;  ///< each step takes so many times as long
  bool by_priority = false;  ///< the thread with the highest priority runs, instead of any
  std::uint64_t long_stops = 0;  ///< one in N stops the running thread for up to 16 ms
  std::uint64_t clock_jumps = 0;  ///< one in N lets the clock jump ahead
  std::uint64_t spurious = 0;  ///< one in N wakes a thread that waits
};

class schedule {
 public:
  explicit schedule(std::uint64_t seed);

  const habits& drawn() const noexcept { return habits_; }
  /// Steps until the next decision: at least 1.
  std::uint64_t next_gap() noexcept { return 1 + random_.below(2 * habits_.gap); }
  /// How long the running thread stops, in nanoseconds; 0: it does not.
  std::uint64_t next_stop() noexcept;
  /// How far the clock jumps now, in nanoseconds; mostly 0.
  std::uint64_t next_jump() noexcept;
  bool wakes_spuriously() noexcept { return happens(habits_.spurious); }
  /// From now on threads wake for a reason only: a check that waits until all sleep would not end otherwise.
  void end_spurious_wake_ups() noexcept { habits_.spurious = 0; }
  /// Whether the running thread loses its priority at this decision.
  bool lowers_priority() noexcept { return habits_.by_priority && random_.once_in(4); }
  /// One of so many threads.
  std::size_t choose(std::size_t count) noexcept { return random_.below(count); }

 private:
  bool happens(std::uint64_t one_in) noexcept { return one_in != 0 && random_.once_in(one_in); }
  /// A length whose order of magnitude is uniform in [2^from, 2^to).
  std::uint64_t length(std::uint64_t from, std::uint64_t to) noexcept;

  random_programs::numbers random_;
  habits habits_;
};

}  // namespace sukima::simulation
