// SPDX-License-Identifier: Apache-2.0
// Sleeping and waking. Forks never touch any of this; the model is model/sleep_wake.pml.
//
// One word (census) counts active entries, searchers and sleepers; it is changed by CAS only. Invariant:
// while an entry is active and a worker is idle, at least one idle worker is a searcher. The last searcher
// never sleeps for good, it becomes the *watch* and sleeps by the clock; so a publisher need not look at
// sleepers at all, and forgets nobody: a wake-up of the watch is a courtesy. A searcher that finds work and
// was the last one promotes a sleeper first.
//
// A promotion is a permit plus a ring at somebody who is deep. Whoever was rung and did not take a permit (it
// had not gone to sleep yet, or woke for another reason) rings another one: the duty is never dropped.
#include "core.hpp"
#include "park/futex.hpp"

#include <sukima/detail/loop.hpp>

#include <algorithm>

namespace sukima::detail {

namespace {

/// The first sleep by the clock. Each next one is twice as long, up to what the caller says.
constexpr std::uint64_t shortest_watch_ns = 50'000;
/// The watch's longest: five wake-ups a second. Fibers that begin later keep attention standing and wake it,
/// so nothing waits for its clock but what they forget.
constexpr std::uint64_t longest_watch_ns = 200'000'000;
/// After the last entry has left the watch stays for about this long (ticks; 10 ms at 3 GHz).
constexpr std::uint64_t linger_ticks = 30'000'000;

/// Whoever has slept by the clock up to this step has found no work for about 50 ms.
constexpr std::uint64_t in_vain_ns = 20'000'000;

/// Changes the census by CAS until `change` is done; `change` returns false to leave it.
template <class Change> bool update(std::atomic<census>& counts, Change change) noexcept {
  census seen = counts.load(std::memory_order_relaxed);
  for (;;) {
    census next = seen;
    if (!change(next)) return false;
    if (counts.compare_exchange_weak(seen, next, std::memory_order_seq_cst, std::memory_order_relaxed))
      return true;
  }
}

}  // namespace

void runtime_core::ring(worker& w) noexcept {
  stress_point();
  w.bell.fetch_add(1);  // partner: sleep(), which waits on the value it read before its last look
  futex(w.bell, FUTEX_WAKE, 1, nullptr);
  if (!uses_condvar) return;
  // Whoever looked at the bell before holds the lock until it waits.
  {
    const std::lock_guard hold(w.bell_lock);
  }
  w.bell_rung.notify_one();
}

void runtime_core::wait_for_bell(worker& w, wait_place place, std::uint32_t seen) noexcept {
  if (chosen.policy_at(place) != wait_policy::condvar) {
    futex(w.bell, FUTEX_WAIT, seen, nullptr);
    return;
  }
  std::unique_lock hold(w.bell_lock);
  w.bell_rung.wait(hold, [&] { return w.bell.load() != seen; });
}

void runtime_core::sleep_by_the_clock(worker& w, wait_place place, std::uint32_t seen,
                                      std::uint64_t& timeout_ns, std::uint64_t longest_ns) noexcept {
  // A CPU is idle: workers that stay on busy ones may have it.
  if (timeout_ns > in_vain_ns && spread.active()) elasticity.release_spread("a worker finds no work");
  timeout_ns = std::clamp(timeout_ns, shortest_watch_ns, longest_ns);
  if (chosen.policy_at(place) == wait_policy::condvar) {
    std::unique_lock hold(w.bell_lock);
    w.bell_rung.wait_for(hold, std::chrono::nanoseconds(timeout_ns), [&] { return w.bell.load() != seen; });
  } else {
    const timespec t{static_cast<time_t>(timeout_ns / 1'000'000'000),
                     static_cast<long>(timeout_ns % 1'000'000'000)};
    futex(w.bell, FUTEX_WAIT, seen, &t);
  }
  timeout_ns *= 2;
}

void runtime_core::wake_watch() noexcept {
  if (watch.load(std::memory_order_relaxed) == nullptr) return;
  if (worker* w = watch.exchange(nullptr)) ring(*w);
}

namespace {

/// Passes a permit on to somebody who is deep. There is one: the census counted it, and a worker sets `deep`
/// before it lets itself be counted.
void ring_a_sleeper(runtime_core& r) noexcept {
  const unsigned count = r.worker_count.load(std::memory_order_acquire);
  for (unsigned i = 0; i < count; ++i) {
    worker* w = r.workers[i].load(std::memory_order_relaxed);
    if (w->deep.load() && w->deep.exchange(false)) {
      r.ring(*w);
      return;
    }
  }
}

void post_permit(runtime_core& r) noexcept {
  stress_point();
  r.permits.fetch_add(1);  // partner: take_permit
  ring_a_sleeper(r);
}

bool take_permit(runtime_core& r) noexcept {
  std::uint32_t seen = r.permits.load();
  while (seen != 0)
    if (r.permits.compare_exchange_weak(seen, seen - 1)) return true;
  return false;
}

}  // namespace

void runtime_core::begin_search() noexcept {
  update(counts, [](census& c) {
    ++c.searchers;
    return true;
  });
}

void runtime_core::end_search() noexcept {
  bool promoted = false;
  update(counts, [&](census& c) {
    --c.searchers;
    promoted = c.searchers == 0 && c.sleepers > 0 && c.active > 0;
    if (promoted) {
      ++c.searchers;
      --c.sleepers;
    }
    return true;
  });
  if (promoted) post_permit(*this);
}

void runtime_core::entry_begins() noexcept {
  bool promoted = false;
  update(counts, [&](census& c) {
    ++c.active;
    promoted = c.searchers == 0 && c.sleepers > 0;
    if (promoted) {
      ++c.searchers;
      --c.sleepers;
    }
    return true;
  });
  if (promoted) post_permit(*this);
}

void runtime_core::touch_census() noexcept {
  update(counts, [](census& c) {
    ++c.version;
    return true;
  });
}

void runtime_core::entry_ends(std::uint64_t now) noexcept {
  quiet_since.store(now, std::memory_order_relaxed);
  update(counts, [](census& c) {
    --c.active;
    return true;
  });
  if (stopping.load()) {  // partner: stop(), which sets it and then reads the census
    const std::lock_guard hold(leaving);
    left.notify_all();
  }
}

void runtime_core::sleep(worker& w, wait_place place, task* awaited, std::uint32_t seen,
                         std::uint64_t& timeout_ns) noexcept {
  const auto called = [&] {
    return (awaited != nullptr && is_done(awaited)) || w.reply.load() != nullptr ||
           (w.flags.load() & flag_leave) != 0 || (w.background && closed.load());
  };
  w.deep.store(true);  // before the CAS: who is counted as a sleeper can be found by a promoter
  stress_point();
  const bool sleeps_for_good = update(counts, [&](census& c) {
    if (c.searchers == 1 &&
        (c.active != 0 || ticks() - quiet_since.load(std::memory_order_relaxed) < linger_ticks))
      return false;
    --c.searchers;
    ++c.sleepers;
    return true;
  });
  w.enter_state(worker_state::sleeping);
  if (!sleeps_for_good) {
    if (!w.deep.exchange(false)) ring_a_sleeper(*this);
    watch.store(&w);
    stress_point();
    sleep_by_the_clock(w, place, seen, timeout_ns, longest_watch_ns);
    worker* self = &w;
    watch.compare_exchange_strong(self, nullptr);
    ++w.counts.watch_wakeups;
  } else {
    for (;;) {
      die_if_orphaned();
      if (take_permit(*this)) break;
      if (called()) {
        // Leaves on its own account: as if promoted, unless the last sleeper was promoted just now; then a
        // permit is on its way.
        const bool free_to_go = update(counts, [](census& c) {
          if (c.sleepers == 0) return false;
          --c.sleepers;
          ++c.searchers;
          return true;
        });
        if (free_to_go) break;
        std::this_thread::yield();
        continue;
      }
      wait_for_bell(w, place, seen);
      seen = w.bell.load();
      w.deep.store(true);
    }
    if (!w.deep.exchange(false) && permits.load() != 0) ring_a_sleeper(*this);
    ++w.counts.wakeups;
    timeout_ns = 0;
  }
  w.enter_state(worker_state::searching);
}

}  // namespace sukima::detail
