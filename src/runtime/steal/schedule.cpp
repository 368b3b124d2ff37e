// SPDX-License-Identifier: Apache-2.0
// What a worker does when its fiber has nothing to do: the loop at the bottom of every fiber, and looking
// for work.
#include "core.hpp"

#include <sukima/detail/loop.hpp>

#include <algorithm>

namespace sukima::detail {

namespace {

/// `adaptive` looks around for about as long as a wake-up costs (3 to 4 µs) before it sleeps.
constexpr std::uint64_t adaptive_spin_ticks = 10'000;
/// Beside a busy neighbour that may have the CPU (100 µs): whoever sleeps gives its turn away, and waits for
/// the next one for as long as the neighbour's takes, milliseconds.
constexpr std::uint64_t kept_turn_ticks = 300'000;
/// A root younger than this (1.5 µs) is not stolen from: it may be over before the thief has the task's
/// memory, and then the region is slower with two workers than with one.
constexpr std::uint64_t unripe_ticks = 4'500;
/// With a CPU of its own for each worker, who found nothing for this long (20 µs) looks whether another one
/// lacks a CPU: only then is finding that out cheaper than the wait.
constexpr std::uint64_t patience_for_others = 60'000;
/// A wait at the limit of parked fibers gives way after this long (10 ms): what it waits for may be among
/// the work that it refuses.
constexpr std::uint64_t patience_ticks = 30'000'000;
/// Nobody rings for descendants that appear while a worker may take nothing else.
constexpr std::uint64_t longest_wait_for_descendants_ns = 50'000'000;

}  // namespace

void runtime_core::run_fiber(fiber& self) {
  task* t = self.first;
  self.first = nullptr;
  for (;;) {
    if (t != nullptr) {
      self.on->enter_state(worker_state::working);
      execute(self, t, self.base);
      worker& w = *self.on;
      // Who finished what a parked fiber waits for goes on with that fiber.
      if (fiber* waiting = complete(w, t)) switch_to(w, &self, *waiting, recycle, nullptr);
      t = nullptr;
    }
    worker& w = *self.on;
    if ((w.flags.load() & flag_leave) != 0 || (w.background && closed.load()))
      switch_home(w, &self, recycle, nullptr);
    const work found = find_work(w, nullptr, reach::anything);
    if (found.ready != nullptr) {
      w.enter_state(worker_state::working);
      switch_to(w, &self, *found.ready, recycle, nullptr);
    }
    if (found.fresh != nullptr) {
      t = found.fresh;
      reset(self);
    }
  }
}

bool runtime_core::is_called(const worker& w, const task* awaited, reach allowed) const noexcept {
  if (awaited != nullptr && is_done(awaited)) return true;
  if (allowed == reach::pinned) return false;  // a pinned fiber keeps its thread until its wait is over
  return (w.flags.load() & flag_leave) != 0 || (w.background && closed.load());
}

bool runtime_core::spins(wait_place place, std::uint64_t since) const noexcept {
  const wait_policy policy = chosen.policy_at(place);
  if (policy == wait_policy::block || policy == wait_policy::condvar) return false;
  std::uint64_t longest = adaptive_spin_ticks;
  if (policy == wait_policy::adaptive && elasticity.cpu_is_short()) {
    if (place == wait_place::start || !elasticity.keeps_turns()) return false;
    longest = kept_turn_ticks;
  }
  wait_a_moment(policy);
  return policy != wait_policy::adaptive || ticks() - since < longest;
}

work runtime_core::find_work(worker& w, task* awaited, reach allowed) {
  if (awaited == nullptr && w.shares_cpu.load(std::memory_order_relaxed)) spread.part(w);
  if (work found = try_once(w, awaited, allowed)) return found;
  if (is_called(w, awaited, allowed)) return {};
  w.enter_state(worker_state::searching);
  close_box(w);
  // Who may take descendants only is no searcher: it could be the last one, and then nobody would look for
  // the rest.
  work found = allowed == reach::anything ? search(w, awaited) : wait_for_descendants(w, awaited, allowed);
  open_box(w);
  w.enter_state(worker_state::working);
  const bool waits_on = awaited != nullptr && !is_done(awaited);
  if (!waits_on && w.shares_cpu.load(std::memory_order_relaxed)) spread.part(w);
  return found;
}

bool runtime_core::give_cpu(worker& w, task* awaited) noexcept {
  if (awaited != nullptr) {
    worker* const runner = awaited->runner.load(std::memory_order_relaxed);
    return runner != nullptr && runner != &w && spread.give(w, *runner, cpu_spread::giving::until_done);
  }
  const unsigned count = worker_count.load(std::memory_order_acquire);
  for (unsigned i = 0; i < count; ++i) {
    worker* const other = workers[i].load(std::memory_order_relaxed);
    if (other == &w || other->current.load(std::memory_order_relaxed) == nullptr) continue;
    if (spread.give(w, *other, cpu_spread::giving::in_exchange)) return true;
  }
  return false;
}

work runtime_core::search(worker& w, task* awaited) {
  begin_search();
  work found;
  request asking;
  std::uint64_t timeout_ns = 0;
  std::uint64_t since = ticks();
  while (!is_called(w, awaited, reach::anything)) {
    die_if_orphaned();
    // The bell is read before the last look around: whoever publishes after that look rings a bell that has
    // changed.
    const std::uint32_t seen = w.bell.load();
    const auto look = [&] {
      found = try_once(w, awaited, reach::anything);
      if (!found && chosen.ready == 0) found.fresh = asking.poll(w);
      return static_cast<bool>(found);
    };
    if (look()) break;
    if (chosen.ready != 0) ask(w);
    const wait_place place = asking.is_pending()  ? wait_place::reply
                             : awaited != nullptr ? wait_place::result
                                                  : wait_place::idle;
    if (spread.active() && ticks() - since > patience_for_others && give_cpu(w, awaited)) {
      since = ticks();
      if (awaited == nullptr) continue;  // looks on from the other CPU
    } else if (spins(place, since)) {
      continue;
    }
    register_sleeper(w, awaited);
    if (look() || is_called(w, awaited, reach::anything)) break;
    sleep(w, place, awaited, seen, timeout_ns);
    if (timeout_ns == 0) since = ticks();
  }
  if (task* t = asking.withdraw(w)) {
    if (found)
      push_spilled(t);
    else
      found.fresh = t;
  }
  end_search();
  return found;
}

work runtime_core::wait_for_descendants(worker& w, task* awaited, reach allowed) {
  work found;
  std::uint64_t timeout_ns = 0;
  const std::uint64_t since = ticks();
  while (!is_called(w, awaited, allowed)) {
    die_if_orphaned();
    const std::uint32_t seen = w.bell.load();
    if ((found = try_once(w, awaited, allowed))) break;
    if (allowed == reach::limited && ticks() - since > patience_ticks) break;
    if (spins(wait_place::result, since)) continue;
    register_sleeper(w, awaited);
    if (is_called(w, awaited, allowed)) break;
    w.enter_state(worker_state::sleeping);
    sleep_by_the_clock(w, wait_place::result, seen, timeout_ns, longest_wait_for_descendants_ns);
    w.enter_state(worker_state::searching);
  }
  return found;
}

void runtime_core::register_sleeper(worker& w, task* awaited) noexcept {
  if (awaited == nullptr) return;
  // Whoever finishes the task rings. A worker that is registered already is one on which this fiber waited
  // before.
  const std::uintptr_t self = reinterpret_cast<std::uintptr_t>(&w) | join_sleeper_mark;
  std::uintptr_t registered = awaited->joining.load();
  while (registered != join_done && registered != self &&
         !awaited->joining.compare_exchange_weak(registered, self)) {
  }
}

work runtime_core::take_queued(task* awaited, reach allowed) {
  if (queued.load() == 0) return {};
  const std::lock_guard hold(queue_lock);
  work found;
  if (allowed != reach::pinned && !ready.empty()) {
    found.ready = ready.front();  // takes the place of the fiber that parks for it: the limit holds
    ready.pop_front();
  } else {
    const auto suits = [&](const task* t) { return allowed == reach::anything || descends(t, awaited); };
    const auto place = std::find_if(spilled.begin(), spilled.end(), suits);
    if (place != spilled.end()) {
      found.fresh = *place;
      spilled.erase(place);
    }
  }
  if (found) queued.fetch_sub(1);
  return found;
}

work runtime_core::try_once(worker& w, task* awaited, reach allowed) {
  if (awaited != nullptr) {
    worker* runner = awaited->runner.load(std::memory_order_relaxed);
    if (runner != nullptr && runner != &w)
      if (task* t = steal_from(w, *runner)) return {t, nullptr};
  }
  if (const work found = take_queued(awaited, allowed)) return found;
  if (allowed != reach::anything) return {};
  const unsigned count = worker_count.load(std::memory_order_acquire);
  const unsigned first = first_victim(w, count);
  for (unsigned i = 0; i < count; ++i) {
    worker* victim = workers[(first + i) % count].load(std::memory_order_relaxed);
    if (victim == &w) continue;
    if (task* t = steal_from(w, *victim)) return {t, nullptr};
  }
  w.last_victim = nullptr;
  if (suspended_count.load() != 0)
    if (task* t = split_suspended(w)) return {t, nullptr};
  return {};
}

task* runtime_core::steal_from(worker& w, worker& victim) noexcept {
  fiber* s = victim.current.load(std::memory_order_acquire);
  if (s == nullptr) return nullptr;
  const std::uint64_t entered_at = s->entered_at.load(std::memory_order_relaxed);
  if (entered_at != 0 && ticks() - entered_at < unripe_ticks) return nullptr;
  for (;;) {
    // The oldest one: it has the most work below it.
    unsigned oldest = chosen.ready;
    std::uint32_t oldest_number = 0;
    task* t = nullptr;
    for (unsigned i = 0; i < chosen.ready; ++i) {
      task* const here = s->slots[i].load(std::memory_order_relaxed);
      if (here == nullptr) continue;
      const std::uint32_t number = s->published_as[i].load(std::memory_order_relaxed);
      if (t != nullptr && static_cast<std::int32_t>(number - oldest_number) >= 0) continue;
      t = here;
      oldest = i;
      oldest_number = number;
    }
    if (t == nullptr) return nullptr;
    stress_point();
    // Nothing of the task is read before this CAS is won: until then its owner may take it back and free it.
    if (!s->slots[oldest].compare_exchange_strong(t, nullptr, std::memory_order_acq_rel)) continue;
    stress_point();
    s->publish_wanted.store(true);
    s->request_poll();
    ++w.counts.steals;
    w.last_victim = &victim;
    w.note(trace_kind::steal, victim.id);
    return t;
  }
}

void runtime_core::ask(worker& w) noexcept {
  const unsigned count = worker_count.load(std::memory_order_acquire);
  for (unsigned i = 0; i < count; ++i) {
    worker* victim = workers[i].load(std::memory_order_relaxed);
    if (victim == &w) continue;
    fiber* s = victim->current.load(std::memory_order_acquire);
    if (s != nullptr)
      s->request_poll();  // the victim sees that somebody searches: the census was changed before
  }
}

void runtime_core::push_ready(fiber* s) noexcept {
  {
    const std::lock_guard hold(queue_lock);
    ready.push_back(s);
    queued.fetch_add(1);
  }
  wake_watch();
}

void runtime_core::push_spilled(task* t) noexcept {
  {
    const std::lock_guard hold(queue_lock);
    spilled.push_back(t);
    queued.fetch_add(1);
  }
  wake_watch();
}

void runtime_core::drain_slots(fiber& s) noexcept {
  for (unsigned i = 0; i < chosen.ready; ++i)
    if (s.slots[i].load(std::memory_order_relaxed) != nullptr)
      if (task* t = s.slots[i].exchange(nullptr, std::memory_order_acq_rel)) push_spilled(t);
}

}  // namespace sukima::detail
