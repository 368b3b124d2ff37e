// SPDX-License-Identifier: Apache-2.0
// Every constant that tunes the runtime, in nanoseconds unless its name says otherwise, with its reason.
//
// Constants that are compared with the CPU's counter (`ticks()`) are converted once for each runtime into
// `tuned_ticks`, a few words that it keeps. So a hot path compares plain numbers. tick_rate.hpp measures how
// fast the counter runs.
#pragma once

#include "tick_rate.hpp"

#include <cstddef>
#include <cstdint>

namespace sukima::detail {

namespace tuning {

// Fibers ---------------------------------------------------------------------------------------------------

/// C stack of a fiber that is bound to an executor, unless it asks for more: 100,000 of them are parked in
/// less than 1 GiB.
inline constexpr std::size_t bound_stack = 16 * 1024;

// Searching and parking ------------------------------------------------------------------------------------

/// The policy `adaptive` searches for about as long as a wake-up costs (3 to 4 µs) before it sleeps.
inline constexpr std::uint64_t adaptive_spin_ns = 3'850;
/// The longest such search after sleeps that it would have avoided (park/learned_spin.hpp).
inline constexpr std::uint64_t longest_learned_spin_ns = 200'000;
/// The same beside a busy neighbour that may have the CPU: a worker that sleeps gives its turn away, and
/// waits for the next one for as long as the neighbour's lasts, milliseconds.
inline constexpr std::uint64_t spin_beside_neighbour_ns = 115'000;
/// If each worker has a CPU of its own, a worker that found nothing for this long checks whether another
/// worker lacks a CPU. Earlier, the check would cost more than the wait.
inline constexpr std::uint64_t before_lending_cpu_ns = 23'000;
/// The sentinel's first sleep. Each next one is twice as long, up to the longest. While no thread is inside
/// the runtime, each next one is four times as long: five wake-ups until it parks, and a root that publishes
/// and never polls waits for at most three times the silence before it.
inline constexpr std::uint64_t shortest_sentinel_sleep_ns = 50'000;
/// Five wake-ups a second. Fibers that begin later keep a request to poll standing and wake the sentinel,
/// so nothing waits for its clock except what they forget.
inline constexpr std::uint64_t longest_sentinel_sleep_ns = 200'000'000;
/// The longest sleep of a sentinel that launches do not wake, because it was woken by one and found nothing:
/// a wake-up costs the launching thread some microseconds.
inline constexpr std::uint64_t longest_deaf_sleep_ns = 1'000'000;
/// *Idle grace*: how long the sentinel stays, about, after the last entry has left, so that the next entry
/// finds it.
inline constexpr std::uint64_t idle_grace_ns = 11'500'000;
/// A worker whose sleeps with a time-out have grown beyond this has found no work for about 50 ms: its CPU
/// is idle.
inline constexpr std::uint64_t long_idle_ns = 20'000'000;
/// After this time a wait at the limit of parked fibers gives way: the awaited task may be among the work
/// that it refuses.
inline constexpr std::uint64_t fiber_limit_patience_ns = 11'500'000;
/// A worker that may take only descendants is not unparked when one appears, so it searches at least this
/// often.
inline constexpr std::uint64_t longest_sleep_for_descendants_ns = 50'000'000;

/// How often a waiter with the policy `inherit` looks whether its wait has ended: only the thread that
/// borrows the priority can wake it.
inline constexpr std::uint64_t longest_loan_ns = 1'000'000;

/// How often the policy `adaptive` tries a lock before it sleeps: a lock is held for about ten nanoseconds,
/// unless its holder has lost its CPU.
inline constexpr int lock_tries = 20;

// Publishing and stealing ----------------------------------------------------------------------------------

/// *Minimum steal age*: a root younger than this is not stolen from. It may end before the thief has the
/// task's memory, and then the region is slower with two workers than with one.
inline constexpr std::uint64_t minimum_steal_age_ns = 1'750;
/// *Root warm-up*: a root younger than this publishes without waking any worker: empty regions stay cheap.
inline constexpr std::uint64_t root_warm_up_ns = 5'800;
/// How many calls of one code in a row must have been short before the next one is expected to be
/// (short_calls.hpp). Roots are short below the minimum steal age. Twice as many after each wrong guess, up
/// to …
inline constexpr std::uint32_t short_calls_needed = 8;
/// … this many: one wrong guess in a million calls costs nothing.
inline constexpr std::uint32_t most_short_calls_needed = 1u << 20;
/// After a backtrack that found nothing there is no other one for this long, or for
/// `futile_backtrack_factor` times what it took: so at most 1/16 of the time is spent on them.
inline constexpr std::uint64_t futile_backtrack_pause_ns = 7'700;
inline constexpr std::uint64_t futile_backtrack_factor = 16;

// Placement ------------------------------------------------------------------------------------------------

/// How long a worker waits for its offered fiber to be taken, about the cost of a wake-up. A worker that
/// polls each microsecond comes in that time; a worker that does not poll is not waited for.
inline constexpr std::uint64_t offer_wait_ns = 3'000;
/// After each offer that no worker took it waits twice as long for the next one, up to this.
inline constexpr std::uint64_t longest_offer_wait_ns = 10'000;
/// An offer as old as this was made by a worker that has lost its CPU: any idle worker may take it.
inline constexpr std::uint64_t stale_offer_ns = 100'000;
/// While work waits until it may be exchanged, only the forks in these bytes above its beginning poll slowly:
/// the outermost few.
inline constexpr std::size_t early_poll_bytes = 512;
/// How many fibers that can go on an idle worker looks at for one that suits its place …
inline constexpr int most_looked_through = 8;
/// … and how often it passes the first one over at most.
inline constexpr int most_passed_over = 8;
/// Bytes of ended launched futures that a thread keeps for its next launches.
inline constexpr std::size_t kept_launch_bytes = std::size_t{128} << 10;

/// A branch that takes less than this part of settings::hint_threshold_ns is short. A hint costs about
/// 0.1 µs, so hints of longer branches cost at most 3 % of them with the default threshold.
inline constexpr std::uint64_t short_branch_divisor = 4;
/// Where branches are expected to be short, one frame in so many is reported at once and measured. A prime
/// number, so that hints that take turns are all measured.
inline constexpr std::uint32_t frames_for_each_sample = 61;

// Sequential clones ----------------------------------------------------------------------------------------

/// While no worker is idle, clones may take this many times settings::clones_ns. Of pentomino's time with one
/// worker, 9 % is in parallel code with clones of 20 µs, 4 % with 80 µs, 2 % with 200 µs.
inline constexpr std::uint64_t longest_clone_factor = 16;
/// They may also take this part of the time since work was last split off. A search that runs as a clone
/// keeps a request waiting for half of that on average: less than 1 % of the time between two requests.
inline constexpr std::uint64_t clones_in_unasked_time = 64;
/// How long a worker that wants work waits for the end of clones that have none to give, before the rest of
/// one runs in parallel: settings::clones_ns, but at most this. A part of a shorter call costs the thief more
/// than it saves, and older work is larger.
inline constexpr std::uint64_t clone_patience_ns = 20'000;

// Control --------------------------------------------------------------------------------------------------

/// Time between the monitor's samples while CPU is short or the capacity changes: a few a second, and
/// multiples of the usual quota period of 100 ms …
inline constexpr std::uint64_t busy_sample_ns = 200'000'000;
/// … and while nothing happens.
inline constexpr std::uint64_t calm_sample_ns = 400'000'000;
/// The first sample after a silence comes early, for programs that do not run for long; the next intervals
/// double.
inline constexpr std::uint64_t first_sample_ns = 25'000'000;
/// The monitor pauses for so many times the CPU time of its last look: it takes 2 % of a CPU at most …
inline constexpr int pause_for_each_look = 50;
/// … but no longer than this, so that the workers follow a quota that changes.
inline constexpr std::uint64_t longest_pause_for_looks_ns = 2'000'000'000;
/// Resolution of a trace's marks for workers without a CPU.
inline constexpr std::uint64_t traced_sample_ns = 10'000'000;
/// Shorter waits for a CPU are not drawn: every wake-up has one.
inline constexpr std::uint64_t shortest_traced_wait_ns = 200'000;
/// After the monitor has found no thread inside for this time, samples are early again.
inline constexpr std::uint64_t monitor_silence_ns = 500'000'000;
/// Threads of other runtimes that have computed for this time, beside a thread that is inside, get CPUs of
/// the workers. Regions of a few milliseconds in a row would make workers leave and come back all the time:
/// with 2 ms, regions of 10 ms beside a computation took 3 to 8 % longer than without this. While such
/// threads compute, the monitor wakes up this often, for 15 µs.
inline constexpr std::uint64_t beside_sample_ns = 10'000'000;
/// Workers that wanted a CPU for less than this do not show whether CPU is short.
inline constexpr std::uint64_t shortest_judged_ns = 20'000'000;
/// A worker that got less than a tenth of its CPU for this time is better off where the kernel puts it.
/// Shorter waits are common: a group that has just arrived on a busy CPU weighs little there.
inline constexpr std::uint64_t longest_starving_ns = 300'000'000;
/// How long no worker is pinned after that.
inline constexpr std::uint64_t rest_after_starving_ns = 5'000'000'000;
/// Beside neighbours the number of workers shrinks only by an average over this many seconds.
inline constexpr double enough_workers_window_s = 1;
/// A number of workers is enough if it gets this part of the CPU that all would get …
inline constexpr double nearly_all_cpu = 0.95;
/// … stays enough while it gets this part …
inline constexpr double still_enough_cpu = 0.9;
/// … and is too small at once if it gets less than this part.
inline constexpr double plainly_too_little_cpu = 0.75;
/// Most blocked workers for which the runtime compensates; more would be a thread for each of a crowd of
/// waits.
inline constexpr unsigned most_compensated = 256;
/// Pieces of work that a blocking fiber gives away first.
inline constexpr unsigned max_tasks_given_by_blocking = 64;
/// After this time a waiting thread-bound fiber gives its worker's place to another worker: the wait may
/// depend on work that it must not run itself. Much longer than waking a worker takes, and short enough that
/// a program which needs it does not seem to stand still.
inline constexpr std::uint64_t bound_wait_patience_ns = 1'000'000;

}  // namespace tuning

/// Those of the constants that are compared with `ticks()`, in ticks.
struct tuned_ticks {
  explicit tuned_ticks(double per_ns) noexcept
      : adaptive_spin(in_ticks(tuning::adaptive_spin_ns, per_ns)),
        longest_learned_spin(in_ticks(tuning::longest_learned_spin_ns, per_ns)),
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
