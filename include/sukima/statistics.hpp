// SPDX-License-Identifier: Apache-2.0
// The counts of a runtime.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sukima {

namespace detail {

/// A count that one thread changes and any thread may read.
class counter {
 public:
  void operator++() noexcept { *this += 1; }
  void operator+=(std::uint64_t n) noexcept {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  std::uint64_t get() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// One worker's counts; see `statistics_counts` for their meaning.
struct worker_statistics {
  counter polls_answered, promotions, backtracks, steals, reclaims, parks, run_on_top, wakeups,
      sentinel_wakeups, suspensions, aborts, cpus_lent, choice_points_scanned, clones, clone_polls,
      clones_left, steals_by_hint, exchanges, offers_taken_back, offers_taken_elsewhere;
  counter ticks_in_state[4];
  counter ticks_at_home, ticks_away;
};

}  // namespace detail

/// \addtogroup runtime
/// @{

/// The counts of one worker, or the sums over all workers.
struct statistics_counts {
  std::uint64_t polls_answered = 0;  ///< polls at which the fiber looked for work to give away
  std::uint64_t promotions = 0;      ///< pending forks and pieces of loops that became tasks
  std::uint64_t backtracks = 0;  ///< of these, how often undo actions had to run (workspace copies: one each)
  std::uint64_t steals = 0;  ///< tasks taken from another worker
  std::uint64_t reclaims = 0;  ///< tasks published and reclaimed by their owner
  std::uint64_t parks = 0;  ///< fibers parked because they had to wait
  std::uint64_t run_on_top = 0;  ///< tasks run on a waiting fiber, because the wait needed them anyway
  std::uint64_t wakeups = 0;  ///< parked workers called up to search
  std::uint64_t sentinel_wakeups = 0;  ///< times the sentinel woke by the clock to look for work
  std::uint64_t suspensions = 0;  ///< calls of `suspend`
  std::uint64_t aborts = 0;  ///< times a fiber left its work by `aborted`
  std::uint64_t cpus_lent = 0;  ///< times an idle worker lent its CPU to a preempted one
  std::uint64_t choice_points_scanned = 0;  ///< choice points looked at to find work and steps to undo
  std::uint64_t clones = 0;  ///< sequential clones that began (docs/clones.md)
  std::uint64_t clone_polls = 0;  ///< polls of clones at which another worker had a request
  std::uint64_t clones_left = 0;  ///< of these, how often the rest of a call had to run in parallel
  std::uint64_t steals_by_hint = 0;  ///< of the steals, tasks that a hint had sent to the thief's place
  std::uint64_t exchanges = 0;  ///< fibers that came to this worker because a hint had sent them to its place
  std::uint64_t offers_taken_back = 0;  ///< fibers that were offered to another place without success
  /// Fibers on offer that this worker took although they were offered to another place: the worker that had
  /// left them there lacked a CPU.
  std::uint64_t offers_taken_elsewhere = 0;
  /// Seconds in which the worker ran tasks. A worker that waits at a join is searching or sleeping. A call
  /// from an ordinary thread that ends at once, like the calls before it, counts in none of the states.
  double working_seconds = 0;
  double searching_seconds = 0;  ///< seconds in which it looked for work
  double sleeping_seconds = 0;  ///< seconds in which it slept
  /// Seconds in which it ran fibers with a reported hint inside the place of the hint. Fibers without a hint,
  /// or with one for any place, count neither here nor in `away_seconds`.
  double at_home_seconds = 0;
  double away_seconds = 0;  ///< seconds in which it ran such fibers outside the place of the hint
};

/// The counts of a runtime at one moment. While tasks run, the numbers are read one after the other, so they
/// may not fit together exactly.
struct statistics : statistics_counts {
  std::vector<statistics_counts> workers;  ///< by worker id; an entering thread is one while it is inside
  std::size_t fibers_peak = 0;  ///< most fibers in use at a time
  std::size_t parked_peak = 0;  ///< most of them parked at joins
  std::size_t launched_peak = 0;  ///< most launched futures at a time that no worker had begun

  /// Returns a table for people. \throws std::bad_alloc
  std::string text() const;
  /// Returns one JSON object. \throws std::bad_alloc
  std::string json() const;
};

/// @}
}  // namespace sukima
