// SPDX-License-Identifier: Apache-2.0
#include "park/park.hpp"

#include <base/shared/assert.hpp>
#include <base/shared/probe.hpp>
#include "constants.hpp"
#include "end_state.hpp"
#include "invariants/rest_mark.hpp"
#include "join/joining.hpp"
#include "park/call_home.hpp"
#include "park/cpu_use.hpp"
#include "park/future_source.hpp"
#include "park/wait_turn.hpp"
#include "remote/node_events.hpp"
#include "stress.hpp"
#include "worker.hpp"

#include <sukima/detail/ticks.hpp>

#include <algorithm>

namespace sukima::detail {

namespace {

#if defined(SUKIMA_ASSERTIONS)
void check_counts(const worker_counts& c) noexcept {
  SUKIMA_ASSERT(c.entries <= max_workers && c.searching <= max_workers && c.parked <= max_workers,
                "no count of workers falls below 0");
  SUKIMA_ASSERT(c.entries == 0 || c.parked == 0 || c.searching != 0,
                "while an entry is active and a worker is parked, one searches or was called up");
}
#else
void check_counts(const worker_counts&) noexcept {}
#endif

/// Changes the counts by CAS; `change` returns false to leave them as they are.
/// pairs with: update, counts
template <class Change> bool update(atomic<worker_counts>& counts, Change change) noexcept {
  // `change` may read other words, which must not be older than the counts: hence acquire.
  worker_counts seen = counts.load(std::memory_order_acquire);
  for (;;) {
    worker_counts next = seen;
    if (!change(next)) return false;
    check_counts(next);
    if (counts.compare_exchange_weak(seen, next, std::memory_order_seq_cst, std::memory_order_acquire))
      return true;
  }
}

/// Whether a launch has woken the sentinel, and the sentinel has found no work since.
/// \param slept_ns  how long it slept last; 0: it has not slept since it last found work
bool was_woken_for_nothing(const atomic<bool>& launches_wake, std::uint64_t slept_ns) noexcept {
  return slept_ns != 0 && !launches_wake.load(std::memory_order_relaxed);  // pairs with: wake_for_launch
}

void allow(atomic<bool>& launches_wake) noexcept {
  launches_wake.store(true, std::memory_order_relaxed);  // pairs with: wake_for_launch
}

}  // namespace

void unpark(worker& w) noexcept {
  SUKIMA_PROBE(unpark, w.id, 0);
  w.unparked_at.store(ticks(), std::memory_order_relaxed);
  w.epoch.advance();
}

void parking::sleep_with_timeout(worker& w, wait_point point, std::uint32_t seen, std::uint64_t& timeout_ns,
                                 std::uint64_t longest_ns, std::uint64_t this_time_ns) noexcept {
  // A CPU is idle: workers that are pinned to busy ones may have it.
  if (timeout_ns > tuning::long_idle_ns && cpus_.is_active()) cpus_.unpin_all("a worker finds no work");
  timeout_ns = std::clamp(timeout_ns, tuning::shortest_sentinel_sleep_ns, longest_ns);
  w.epoch.wait_for(chosen_.policy_at(point), seen, std::min(timeout_ns, this_time_ns));
  timeout_ns *= 2;
}

void parking::wait_at_home(worker& w, std::uint32_t seen, std::uint64_t since) noexcept {
  if (spins(wait_point::start, since)) {
    if (!sleeps_at(wait_point::start)) w.rests(rest_place::at_home);
    return;
  }
  w.sleeps(rest_place::at_home, seen);
  w.epoch.wait(chosen_.policy_at(wait_point::start), seen);
  w.rests(rest_place::busy);
}

void parking::wake_sentinel() noexcept {
  if (sentinel_.load(std::memory_order_relaxed) == nullptr) return;
  if (worker* w = sentinel_.exchange(nullptr, std::memory_order_seq_cst)) unpark(*w);
}

void parking::wake_for_launch() noexcept {
  if (sentinel_.load(std::memory_order_relaxed) == nullptr || !launches_wake_.load(std::memory_order_relaxed))
    return;
  // Only the launch that wakes the sentinel clears the mark, and does so before the sentinel continues. A
  // later store would still be there when the sentinel reads the mark again.
  if (worker* w = sentinel_.exchange(nullptr, std::memory_order_seq_cst)) {
    launches_wake_.store(false, std::memory_order_relaxed);
    unpark(*w);
  }
}

/// Passes a permit on to a worker whose `parked` flag is set. Such a worker exists: it counts as parked, and
/// it set the flag before it was counted.
void parking::unpark_one() noexcept {
  for (worker& w : workers_.all())
    if (w.parked.load(std::memory_order_seq_cst) && w.parked.exchange(false, std::memory_order_seq_cst)) {
      unpark(w);
      return;
    }
}

void parking::call_up() noexcept {
  stress_point();
  const std::uint32_t before = permits_.fetch_add(1, std::memory_order_seq_cst);
  SUKIMA_ASSERT(before < workers_.size(), "there are not more permits than parked workers");
  unpark_one();
}

bool parking::take_permit() noexcept {
  std::uint32_t seen = permits_.load(std::memory_order_seq_cst);
  while (seen != 0)
    if (permits_.compare_exchange_weak(seen, seen - 1, std::memory_order_seq_cst)) return true;
  return false;
}

void parking::begin_search() noexcept {
  update(counts_, [](worker_counts& c) {
    ++c.searching;
    return true;
  });
}

void parking::end_search() noexcept {
  bool calls_up = false;
  update(counts_, [&](worker_counts& c) {
    --c.searching;
    calls_up = c.searching == 0 && c.parked > 0 && (c.entries > 0 || !futures_.is_empty());
    if (calls_up) {
      ++c.searching;
      --c.parked;
    }
    return true;
  });
  if (calls_up) call_up();
}

void parking::entry_begins() noexcept {
  bool calls_up = false;
  update(counts_, [&](worker_counts& c) {
    ++c.entries;
    // A worker in park() that saw no launched future must look again, even if this entry ends before that.
    ++c.version;
    calls_up = c.searching == 0 && c.parked > 0;
    if (calls_up) {
      ++c.searching;
      --c.parked;
    }
    return true;
  });
  if (calls_up) call_up();
}

void parking::entry_ends(std::uint64_t now) noexcept {
  quiet_since_.store(now, std::memory_order_relaxed);
  update(counts_, [](worker_counts& c) {
    --c.entries;
    return true;
  });
}

void parking::order_with_counts() noexcept {
  update(counts_, [](worker_counts& c) {
    ++c.version;
    return true;
  });
}

void parking::park(worker& sleeper, wait_point point, const task* awaited, std::uint32_t seen,
                   std::uint64_t& timeout_ns) noexcept {
  SUKIMA_ASSERT(!sleeper.parked.load(std::memory_order_seq_cst),
                "a worker that searches does not have the flag `parked`");
  // Before the CAS: call_up must find each worker that is counted as parked.
  sleeper.parked.store(true, std::memory_order_seq_cst);
  stress_point();
  const bool counted = update(counts_, [&](worker_counts& c) {
    // A launched future may continue when no entry is left. When it is resumed, a worker must find it.
    if (c.searching == 1 && (c.entries != 0 || !futures_.is_empty() ||
                             ticks() - quiet_since_.load(std::memory_order_relaxed) < tuned_.idle_grace))
      return false;
    --c.searching;
    ++c.parked;
    return true;
  });
  sleeper.enter_state(worker_state::sleeping);
  if (counted) {
    sleep_until_called_up(sleeper, point, awaited, seen);
    timeout_ns = 0;
  } else {
    sleep_as_sentinel(sleeper, point, seen, timeout_ns);
  }
  sleeper.enter_state(worker_state::searching);
}

void parking::sleep_as_sentinel(worker& sentinel, wait_point point, std::uint32_t seen,
                                std::uint64_t& timeout_ns) noexcept {
  if (!sentinel.parked.exchange(false, std::memory_order_seq_cst)) unpark_one();
  SUKIMA_ASSERT(sentinel_.load(std::memory_order_seq_cst) == nullptr, "one worker at most is the sentinel");
  const bool ignores_launches = was_woken_for_nothing(launches_wake_, timeout_ns);
  if (!ignores_launches) allow(launches_wake_);
  sentinel_.store(&sentinel, std::memory_order_seq_cst);
  stress_point();
  const bool is_silent = counts().entries == 0 && futures_.is_empty();
  remote_.is_idle();
  sentinel.sleeps(rest_place::sentinel, seen);
  sleep_with_timeout(sentinel, point, seen, timeout_ns,
                     is_silent ? tuning::idle_grace_ns : tuning::longest_sentinel_sleep_ns,
                     ignores_launches ? tuning::longest_deaf_sleep_ns : ~std::uint64_t{0});
  sentinel.rests(rest_place::busy);
  if (ignores_launches) allow(launches_wake_);
  if (is_silent) timeout_ns *= 2;
  worker* self = &sentinel;
  sentinel_.compare_exchange_strong(self, nullptr, std::memory_order_seq_cst);
  ++sentinel.statistics.sentinel_wakeups;
}

bool parking::is_wanted(const worker& w, const task* awaited) const noexcept {
  if ((awaited != nullptr && is_done(awaited)) || w.reply.load(std::memory_order_seq_cst) != nullptr)
    return true;
  const std::uint32_t flags = w.flags.load(std::memory_order_seq_cst);
  return calls_home(flags) || (flags & flag_place) != 0 || (w.background && life_.is_closed());
}

void parking::sleep_until_called_up(worker& sleeper, wait_point point, const task* awaited,
                                    std::uint32_t seen) noexcept {
  for (;;) {
    life_.exit_if_orphaned();
    if (take_permit()) break;
    stress_point();
    if (is_wanted(sleeper, awaited)) {
      // The worker leaves by itself, as if it had been called up. If the last parked worker has just been
      // called up, a permit will arrive, and the worker must wait for it.
      const bool may_leave = update(counts_, [](worker_counts& c) {
        if (c.parked == 0) return false;
        --c.parked;
        ++c.searching;
        return true;
      });
      if (may_leave) break;
      yield();
      continue;
    }
    sleeper.sleeps(rest_place::parked, seen);
    sleeper.epoch.wait(chosen_.policy_at(point), seen);
    sleeper.rests(rest_place::busy);
    seen = sleeper.epoch.read();
    sleeper.parked.store(true, std::memory_order_seq_cst);
  }
  if (!sleeper.parked.exchange(false, std::memory_order_seq_cst) &&
      permits_.load(std::memory_order_seq_cst) != 0)
    unpark_one();
  ++sleeper.statistics.wakeups;
}

bool parking::sleeps_at(wait_point point) const noexcept {
  const wait_policy policy = chosen_.policy_at(point);
  return policy == wait_policy::adaptive || sleeps_at_once(policy);
}

void parking::note_look(std::uint64_t last, std::uint64_t now) noexcept {
  if (now > last && now - last >= tuned_.lost_turn) note_contention(now);
}

void parking::note_wake_up(const worker& w, std::uint64_t now) noexcept {
  const std::uint64_t unparked_at = w.unparked_at.load(std::memory_order_relaxed);
  if (unparked_at != 0 && now > unparked_at && now - unparked_at >= tuned_.late_wake_up) note_contention(now);
}

void parking::note_contention(std::uint64_t now) noexcept {
  contention_.note(now, tuned_.contention_memory, tuned_.longest_contention_memory);
}

bool parking::has_launched() const noexcept { return !futures_.is_empty(); }

bool parking::spins(wait_point point, std::uint64_t since, const learned_spin& learned) const noexcept {
  const wait_policy policy = chosen_.policy_at(point);
  if (sleeps_at_once(policy)) return false;
  std::uint64_t longest = learned.length(tuned_.adaptive_spin);
  const bool is_short = policy == wait_policy::adaptive && pressure_.is_short();
  if (is_short) {
    if (point == wait_point::start || !pressure_.spinning_keeps_turn()) return false;
    longest = tuned_.spin_beside_neighbour;
  }
  wait_a_moment(policy);
  if (policy != wait_policy::adaptive) return true;
  const std::uint64_t now = ticks();
  if (!is_short && contention_.is_recent(now)) longest = tuned_.adaptive_spin;
  return now - since < longest;
}

}  // namespace sukima::detail
