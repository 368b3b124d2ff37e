// SPDX-License-Identifier: Apache-2.0
// Parking: how workers without work sleep and are woken. Forks never touch any of this.
//
// One word (worker_counts) counts the entries, the searching and the parked workers. Only CAS changes it.
// Invariant: while an entry is active and a worker is idle, at least one idle worker searches. The last
// searching worker never parks: it becomes the *sentinel*, which sleeps with a time-out and then searches
// again. So a worker that publishes work does not wake parked workers, and no work is lost. Waking the
// sentinel only shortens a delay. When the last searching worker finds work, it first calls up a parked
// worker, which then searches.
//
// A call-up is a *permit* plus unpark() of a worker whose `parked` flag is set. An unparked worker may not
// take the permit, because it had not gone to sleep yet or woke for another reason. Then it unparks another
// worker, so that no permit is lost.
//
// This folder is the only owner of the counts, the permits and the wake epochs. Model: model/park.pml.
#pragma once

#include "park/contention.hpp"
#include "park/learned_spin.hpp"

#include <sukima/detail/atomics.hpp>
#include <sukima/settings.hpp>

#include <atomic>
#include <cstdint>

namespace sukima::detail {

class assigned_cpus;
class cpu_pressure;
class future_source;
class lifetime;
class node_events;
class rest_check;
struct task;
struct tuned_ticks;
struct worker;
class worker_table;

/// Entries, searching and parked workers in one word.
struct worker_counts {
  std::uint16_t entries = 0;  ///< calls of `run` by outside threads that have not returned
  std::uint16_t searching = 0;  ///< idle workers that search for work, including the sentinel
  std::uint16_t parked = 0;  ///< idle workers that sleep until they are called up
  std::uint16_t version = 0;  ///< see order_with_counts
};

class parking {
 public:
  parking(const settings& chosen, const tuned_ticks& tuned, const worker_table& workers, const lifetime& life,
          const future_source& futures, cpu_pressure& pressure, assigned_cpus& cpus, node_events& remote)
      : chosen_(chosen),
        tuned_(tuned),
        workers_(workers),
        life_(life),
        futures_(futures),
        pressure_(pressure),
        cpus_(cpus),
        remote_(remote) {}
  parking(const parking&) = delete;
  parking& operator=(const parking&) = delete;

  worker_counts counts() const noexcept { return counts_.load(std::memory_order_seq_cst); }
  /// Whether a worker looks for work. A poll reads this after it has written its limit. A worker that begins
  /// to search first counts itself, then requests polls (request_poll_all in find_work.cpp).
  bool has_idle_workers() const noexcept { return counts().searching != 0; }

  void begin_search() noexcept;
  /// The caller no longer searches. If it was the last searching worker and an entry is active, calls up a
  /// parked worker.
  void end_search() noexcept;
  /// Sleeps until there may be work, parked or as the sentinel. The caller counts as searching before and
  /// after.
  /// \param awaited     the task whose end wakes it, too; null: none
  /// \param seen        the wake epoch, read before the last search
  /// \param timeout_ns  how long the sentinel slept last; 0 after the worker was called up
  void park(worker& sleeper, wait_point point, const task* awaited, std::uint32_t seen,
            std::uint64_t& timeout_ns) noexcept;
  /// Sleeps until the worker is unparked or a time-out has passed, which doubles from call to call up to
  /// `longest_ns`. The worker counts as before.
  /// \param this_time_ns  limits this sleep only, and not the next ones
  void sleep_with_timeout(worker& w, wait_point point, std::uint32_t seen, std::uint64_t& timeout_ns,
                          std::uint64_t longest_ns, std::uint64_t this_time_ns = ~std::uint64_t{0}) noexcept;
  /// One turn of a surplus worker's wait at home: spins, or sleeps until it is unparked.
  /// \param seen   the wake epoch before the worker read that it is surplus
  /// \param since  the tick at which it came home
  void wait_at_home(worker& w, std::uint32_t seen, std::uint64_t since) noexcept;
  /// Wakes the sentinel, if there is one, because there is new work.
  void wake_sentinel() noexcept;
  /// The same for a launched future. The fiber that launched it may touch it before the sentinel finds it.
  /// After such a wake-up in which the sentinel found no work, launches do not wake it during its next sleep.
  void wake_for_launch() noexcept;

  /// Counts an outside thread that enters. From now on there may be work.
  void entry_begins() noexcept;
  /// Counts an outside thread that has left at that tick.
  void entry_ends(std::uint64_t now) noexcept;
  /// The tick at which the last entry has left. A hint.
  std::uint64_t quiet_since() const noexcept { return quiet_since_.load(std::memory_order_relaxed); }
  /// Changes no count, but is ordered with all changes of the counts.
  void order_with_counts() noexcept;

  /// One turn of a wait at this wait point that began at that tick.
  /// \param learned  for the policy `adaptive`: how long to spin
  /// \return false: time to sleep
  bool spins(wait_point point, std::uint64_t since, const learned_spin& learned = {}) const noexcept;
  /// Notes two consecutive looks of one search, as ticks. If they are far apart, the search has lost its CPU:
  /// others want the CPUs, so for a while the searches of all workers are as short as possible. The
  /// counter of another CPU may be ahead of this one's, so `last` may be after `now`.
  void note_look(std::uint64_t last, std::uint64_t now) noexcept;
  /// Notes that this worker runs again after a sleep. If it was unparked long ago, it has waited for a CPU,
  /// with the same consequence.
  void note_wake_up(const worker& w, std::uint64_t now) noexcept;
  /// Whether launched futures have not ended. They continue even if no thread is inside.
  bool has_launched() const noexcept;
  /// Whether waits at this point ever sleep.
  bool sleeps_at(wait_point point) const noexcept;

 private:
  friend class rest_check;
  void sleep_as_sentinel(worker& sentinel, wait_point point, std::uint32_t seen,
                         std::uint64_t& timeout_ns) noexcept;
  void sleep_until_called_up(worker& sleeper, wait_point point, const task* awaited,
                             std::uint32_t seen) noexcept;
  bool is_wanted(const worker& w, const task* awaited) const noexcept;
  void call_up() noexcept;
  void unpark_one() noexcept;
  bool take_permit() noexcept;
  void note_contention(std::uint64_t now) noexcept;

  const settings& chosen_;
  const tuned_ticks& tuned_;
  const worker_table& workers_;
  const lifetime& life_;
  const future_source& futures_;
  cpu_pressure& pressure_;
  assigned_cpus& cpus_;
  node_events& remote_;
  /// pairs with: update, counts
  alignas(128) atomic<worker_counts> counts_{};
  /// Call-ups that no parked worker has taken yet. pairs with: call_up, take_permit, sleep_until_called_up
  atomic<std::uint32_t> permits_{0};
  /// Set while the sentinel sleeps. pairs with: sleep_as_sentinel, wake_sentinel
  atomic<worker*> sentinel_{nullptr};
  /// Whether a launch may wake the sentinel. The launch that wakes it resets this. A wake-up only shortens a
  /// delay, so a value that is read late does no harm. pairs with: sleep_as_sentinel, wake_for_launch
  atomic<bool> launches_wake_{true};
  contention contention_;  ///< for the CPUs
  /// Tick at which the last entry left. no partner: a hint
  std::atomic<std::uint64_t> quiet_since_{0};
};

/// Wakes a worker that sleeps, or is about to: its wake epoch advances.
void unpark(worker& w) noexcept;

}  // namespace sukima::detail
