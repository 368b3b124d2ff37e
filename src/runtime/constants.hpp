// SPDX-License-Identifier: Apache-2.0
// Every constant that tunes the runtime, in nanoseconds unless its name says otherwise, with its reason.
//
// Constants that are compared with the CPU's counter (`ticks()`) are converted once for each runtime and
// stored in its `tuned_ticks`, so that a hot path compares plain numbers. tick_rate.hpp measures how fast the
// counter runs.
#pragma once

#include "tick_rate.hpp"

#include <cstddef>
#include <cstdint>

namespace sukima::detail {

namespace tuning {

// Fibers ---------------------------------------------------------------------------------------------------

/// C stack of a fiber that is bound to an executor, unless the program gives it another size: 100,000 such
/// fibers are parked in less than 1 GiB.
inline constexpr std::size_t bound_stack = 16 * 1024;

// Searching and parking ------------------------------------------------------------------------------------

/// The policy `adaptive` searches for about as long as a wake-up costs (3 to 4 µs) before it sleeps.
inline constexpr std::uint64_t adaptive_spin_ns = 3'850;
/// The longest such search, after sleeps that it would have avoided (park/learned_spin.hpp).
inline constexpr std::uint64_t longest_learned_spin_ns = 200'000;
/// A search whose two looks are this far apart has lost its CPU in between: another thread, or another
/// virtual machine, wants it.
inline constexpr std::uint64_t lost_turn_ns = 60'000;
/// A worker that runs this long after it was unparked has waited for a CPU that another thread or machine
/// had. A CPU leaves even its deepest idle state in less time.
inline constexpr std::uint64_t late_wake_up_ns = 500'000;
/// Searches stay short for at least this long after either sign: several time slices of a host.
inline constexpr std::uint64_t contention_memory_ns = 20'000'000;
/// The longest such time, if signs recur (park/contention.hpp).
inline constexpr std::uint64_t longest_contention_memory_ns = 640'000'000;
/// The longest search beside a busy neighbour that may have the CPU. A worker that sleeps gives up its turn,
/// and waits for the next one while the neighbour's turn lasts, which takes milliseconds.
inline constexpr std::uint64_t spin_beside_neighbour_ns = 115'000;
/// If each worker has a CPU of its own, a worker that has found no work for this time checks whether another
/// worker lacks a CPU. An earlier check would cost more than the wait.
inline constexpr std::uint64_t before_lending_cpu_ns = 23'000;
/// The sentinel's first sleep. Each further sleep is twice as long, up to the longest. While no thread is
/// inside the runtime, each further sleep is four times as long. So there are five wake-ups until the
/// sentinel parks, and a root that publishes and never polls waits at most three times as long as the silence
/// before it.
inline constexpr std::uint64_t shortest_sentinel_sleep_ns = 50'000;
/// Five wake-ups a second. Fibers that begin later keep a standing request to poll and wake the sentinel, so
/// only work that they forget waits for its clock.
inline constexpr std::uint64_t longest_sentinel_sleep_ns = 200'000'000;
/// The longest sleep of a sentinel that launches do not wake, because a launch woke it and it found nothing.
/// A wake-up costs the launching thread some microseconds.
inline constexpr std::uint64_t longest_deaf_sleep_ns = 1'000'000;
/// *Idle grace*: about how long the sentinel stays after the last entry has left, so that the next entry
/// finds it.
inline constexpr std::uint64_t idle_grace_ns = 11'500'000;
/// If a worker's sleeps with a time-out have grown beyond this length, it has found no work for about 50 ms,
/// so its CPU is idle.
inline constexpr std::uint64_t long_idle_ns = 20'000'000;
/// After this time a wait ignores the limit of parked fibers, because the awaited task may be among the work
/// that it has refused.
inline constexpr std::uint64_t fiber_limit_patience_ns = 11'500'000;
/// A worker that may take only descendants is not unparked when one appears, so it searches at least this
/// often.
inline constexpr std::uint64_t longest_sleep_for_descendants_ns = 50'000'000;

/// The time after which a waiter with the policy `inherit` checks again whether its wait has ended: only the
/// thread that borrows the priority can wake it.
inline constexpr std::uint64_t longest_loan_ns = 1'000'000;

/// How often the policy `adaptive` tries to take a lock before it sleeps. A lock is held for about ten
/// nanoseconds, unless its holder has lost its CPU.
inline constexpr int lock_tries = 20;

// Publishing and stealing ----------------------------------------------------------------------------------

/// *Minimum steal age*: thieves do not steal from a root younger than this. Such a root may end before the
/// thief has the task's memory, and then the region is slower with two workers than with one.
inline constexpr std::uint64_t minimum_steal_age_ns = 1'750;
/// *Root warm-up*: a root younger than this publishes without waking a worker, so that empty regions stay
/// cheap.
inline constexpr std::uint64_t root_warm_up_ns = 5'800;
/// The number of polls that the first choice point of an unannounced root lets pass: those of a loop that
/// ends within its fourth strip (strip_length.hpp): one iteration, 63 more, the rest as measured by these,
/// and what is left if that was too little.
inline constexpr std::uint64_t polls_let_pass = 4;
/// The number of calls of one code in a row that must have been short before the next call is expected to be
/// short (short_calls.hpp). Roots are short below the minimum steal age. Each wrong guess doubles the number,
/// up to …
inline constexpr std::uint32_t short_calls_needed = 8;
/// … this one: one wrong guess in a million calls costs nothing.
inline constexpr std::uint32_t most_short_calls_needed = 1u << 20;
/// After a backtrack that found nothing, there is no further one for this time, or for
/// `futile_backtrack_factor` times the time that it took. So backtracks take at most 1/16 of the time.
inline constexpr std::uint64_t futile_backtrack_pause_ns = 7'700;
inline constexpr std::uint64_t futile_backtrack_factor = 16;

// Placement ------------------------------------------------------------------------------------------------

/// How long a worker waits until its offered fiber is taken: about the cost of a wake-up. A worker that polls
/// each microsecond takes it in that time. The offering worker does not wait for one that does not poll.
inline constexpr std::uint64_t offer_wait_ns = 3'000;
/// After each offer that no worker took, the wait for the next one doubles, up to this time.
inline constexpr std::uint64_t longest_offer_wait_ns = 10'000;
/// An offer of this age was made by a worker that has lost its CPU, so any idle worker may take it.
inline constexpr std::uint64_t stale_offer_ns = 100'000;
/// While work waits until it may be exchanged, only the forks in these bytes above its beginning poll slowly.
/// These are the outermost few.
inline constexpr std::size_t early_poll_bytes = 512;
/// How many ready fibers an idle worker checks for one that suits its place …
inline constexpr int most_looked_through = 8;
/// … and how often at most it passes over the first one.
inline constexpr int most_passed_over = 8;
/// Bytes of memory of ended launched futures that a thread keeps for its next launches.
inline constexpr std::size_t kept_launch_bytes = std::size_t{128} << 10;

/// A branch that takes less than this part of settings::hint_threshold_ns is short. A hint costs about
/// 0.1 µs, so hints of longer branches cost at most 3 % of them with the default threshold.
inline constexpr std::uint64_t short_branch_divisor = 4;
/// If branches are expected to be short, one of this many frames is reported at once and measured. A prime
/// number, so that all hints are measured if several take turns.
inline constexpr std::uint32_t frames_for_each_sample = 61;

// Sequential clones ----------------------------------------------------------------------------------------

/// While no worker is idle, clones may take this many times settings::clones_ns. In pentomino with one
/// worker, parallel code takes 9 % of the time with clones of 20 µs, 4 % with 80 µs, 2 % with 200 µs.
inline constexpr std::uint64_t longest_clone_factor = 16;
/// Clones may also take this part of the time since work was last split off. A search that runs as a clone
/// delays a request by half of that on average: less than 1 % of the time between two requests.
inline constexpr std::uint64_t clones_in_unasked_time = 64;
/// How long a worker that wants work waits for the end of clones that have none to give, before the rest of a
/// clone runs in parallel. It is settings::clones_ns, but at most this time. A part of a shorter call would
/// cost the thief more than it saves, and older work is larger.
inline constexpr std::uint64_t clone_patience_ns = 20'000;

// Control --------------------------------------------------------------------------------------------------

/// Time between the monitor's samples while CPU is short or the capacity changes: a few samples a second, at
/// multiples of the usual quota period of 100 ms …
inline constexpr std::uint64_t busy_sample_ns = 200'000'000;
/// … and while nothing happens.
inline constexpr std::uint64_t calm_sample_ns = 400'000'000;
/// The first sample after a silence comes early, for programs that run only briefly. The following intervals
/// double.
inline constexpr std::uint64_t first_sample_ns = 25'000'000;
/// The monitor pauses for this many times the CPU time of its last sample, so it takes 2 % of a CPU at most …
inline constexpr int pause_for_each_sample = 50;
/// … but no longer than this, so that the workers follow a quota that changes.
inline constexpr std::uint64_t longest_pause_for_samples_ns = 2'000'000'000;
/// Resolution of the marks in a trace for workers without a CPU.
inline constexpr std::uint64_t traced_sample_ns = 10'000'000;
/// A trace does not show shorter waits for a CPU, because every wake-up has one.
inline constexpr std::uint64_t shortest_traced_wait_ns = 200'000;
/// If the monitor has found no thread inside for this time, the next samples come early again.
inline constexpr std::uint64_t monitor_silence_ns = 500'000'000;
/// Threads of other runtimes that have computed for this time, beside a thread that is inside, get CPUs of
/// the workers. With a shorter time, regions of a few milliseconds in a row would make workers leave and come
/// back all the time: with 2 ms, regions of 10 ms beside a computation took 3 to 8 % longer. While such
/// threads compute, the monitor wakes up this often, for 15 µs each time.
inline constexpr std::uint64_t beside_sample_ns = 10'000'000;
/// If the workers wanted a CPU for less time than this, their waits do not show whether CPU is short.
inline constexpr std::uint64_t shortest_judged_ns = 20'000'000;
/// If a worker got less than a tenth of its CPU for this time, the kernel can place it better. Shorter waits
/// are common: a group that has just arrived on a busy CPU has little weight there.
inline constexpr std::uint64_t longest_starving_ns = 300'000'000;
/// How long no worker is pinned after such a time.
inline constexpr std::uint64_t rest_after_starving_ns = 5'000'000'000;
/// Beside neighbours, the number of workers is lowered only by an average over this many seconds.
inline constexpr double enough_workers_window_s = 1;
/// A number of workers is enough if it gets this part of the CPU that all would get …
inline constexpr double nearly_all_cpu = 0.95;
/// … stays enough while it gets this part …
inline constexpr double still_enough_cpu = 0.9;
/// … and is too small at once if it gets less than this part.
inline constexpr double plainly_too_little_cpu = 0.75;
/// The largest number of blocked workers for which the runtime compensates. A higher one would start a thread
/// for each of a crowd of waits.
inline constexpr unsigned most_compensated = 256;
/// The number of tasks that a fiber gives away before it blocks.
inline constexpr unsigned max_tasks_given_by_blocking = 64;
/// After this time a waiting thread-bound fiber gives its worker's place to another worker, because the wait
/// may depend on work that it must not run itself. It is much longer than waking a worker takes, and short
/// enough that a program that needs this does not seem to hang.
inline constexpr std::uint64_t bound_wait_patience_ns = 1'000'000;

}  // namespace tuning

/// The constants that are compared with `ticks()`, in ticks.
struct tuned_ticks {
  explicit tuned_ticks(double per_ns) noexcept
      : adaptive_spin(in_ticks(tuning::adaptive_spin_ns, per_ns)),
        longest_learned_spin(in_ticks(tuning::longest_learned_spin_ns, per_ns)),
        lost_turn(in_ticks(tuning::lost_turn_ns, per_ns)),
        late_wake_up(in_ticks(tuning::late_wake_up_ns, per_ns)),
        contention_memory(in_ticks(tuning::contention_memory_ns, per_ns)),
        longest_contention_memory(in_ticks(tuning::longest_contention_memory_ns, per_ns)),
        spin_beside_neighbour(in_ticks(tuning::spin_beside_neighbour_ns, per_ns)),
        before_lending_cpu(in_ticks(tuning::before_lending_cpu_ns, per_ns)),
        idle_grace(in_ticks(tuning::idle_grace_ns, per_ns)),
        fiber_limit_patience(in_ticks(tuning::fiber_limit_patience_ns, per_ns)),
        bound_wait_patience(in_ticks(tuning::bound_wait_patience_ns, per_ns)),
        minimum_steal_age(in_ticks(tuning::minimum_steal_age_ns, per_ns)),
        root_warm_up(in_ticks(tuning::root_warm_up_ns, per_ns)),
        futile_backtrack_pause(in_ticks(tuning::futile_backtrack_pause_ns, per_ns)),
        clone_patience(in_ticks(tuning::clone_patience_ns, per_ns)),
        offer_wait(in_ticks(tuning::offer_wait_ns, per_ns)),
        longest_offer_wait(in_ticks(tuning::longest_offer_wait_ns, per_ns)),
        stale_offer(in_ticks(tuning::stale_offer_ns, per_ns)) {}

  const std::uint64_t adaptive_spin;
  const std::uint64_t longest_learned_spin;
  const std::uint64_t lost_turn;
  const std::uint64_t late_wake_up;
  const std::uint64_t contention_memory;
  const std::uint64_t longest_contention_memory;
  const std::uint64_t spin_beside_neighbour;
  const std::uint64_t before_lending_cpu;
  const std::uint64_t idle_grace;
  const std::uint64_t fiber_limit_patience;
  std::uint64_t bound_wait_patience;  ///< not constant: without end where the memory orders are explored
  std::uint64_t minimum_steal_age;  ///< not constant, as the next one: without end where entries are counted
  std::uint64_t root_warm_up;
  const std::uint64_t futile_backtrack_pause;
  std::uint64_t clone_patience;  ///< not constant: 0 or without end in tests of clones
  const std::uint64_t offer_wait;
  const std::uint64_t longest_offer_wait;
  const std::uint64_t stale_offer;
};

}  // namespace sukima::detail
