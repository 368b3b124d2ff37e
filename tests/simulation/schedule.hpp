// SPDX-License-Identifier: Apache-2.0
// The decisions that come from the seed of a simulated run: which thread runs next, for how many steps, and
// which disturbances occur.
#pragma once

#include "../runtime/random/numbers.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace sukima::simulation {

/// Drawn once from the seed, because different bugs need different disturbances. "One in N": at one of N
/// decisions; 0: never.
struct habits {
  std::uint64_t gap = 1;  ///< mean number of steps between two decisions
  std::uint64_t pace = 1;  ///< factor for the time of each step
  bool by_priority = false;  ///< whether the thread with the highest priority runs, instead of a random one
  std::uint64_t long_stops = 0;  ///< one in N stops the running thread for up to 16 ms
  std::uint64_t clock_jumps = 0;  ///< one in N makes the clock jump ahead
  std::uint64_t spurious = 0;  ///< one in N wakes a waiting thread spuriously
};

class schedule {
 public:
  explicit schedule(std::uint64_t seed);

  const habits& drawn() const noexcept { return habits_; }
  /// Returns the number of steps until the next decision: at least 1.
  std::uint64_t next_gap() noexcept { return 1 + random_.below(2 * habits_.gap); }
  /// Returns how long the running thread stops, in nanoseconds; 0: it does not stop.
  std::uint64_t next_stop() noexcept;
  /// Returns how far the clock jumps now, in nanoseconds; mostly 0.
  std::uint64_t next_jump() noexcept;
  bool wakes_spuriously() noexcept { return happens(habits_.spurious); }
  /// Turns off spurious wake-ups, because a check that waits until all threads sleep would not end otherwise.
  void end_spurious_wake_ups() noexcept { habits_.spurious = 0; }
  /// Whether the running thread loses its priority at this decision.
  bool lowers_priority() noexcept { return habits_.by_priority && random_.once_in(4); }
  /// Chooses one of that number of threads.
  std::size_t choose(std::size_t count) noexcept { return random_.below(count); }

 private:
  bool happens(std::uint64_t one_in) noexcept { return one_in != 0 && random_.once_in(one_in); }
  /// Returns a length in [2^from, 2^to) whose logarithm is uniformly distributed.
  std::uint64_t length(std::uint64_t from, std::uint64_t to) noexcept;

  random_programs::numbers random_;
  habits habits_;
};

}  // namespace sukima::simulation
