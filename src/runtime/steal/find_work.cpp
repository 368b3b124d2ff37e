// SPDX-License-Identifier: Apache-2.0
#include <base/shared/assert.hpp>
#include <base/shared/probe.hpp>
#include "constants.hpp"
#include "fiber/fiber.hpp"
#include "invariants/rest_mark.hpp"
#include "join/joining.hpp"
#include "observe/trace.hpp"
#include "park/call_home.hpp"
#include "park/compensation.hpp"
#include "park/cpu_use.hpp"
#include "park/future_source.hpp"
#include "park/park.hpp"
#include "place/place_events.hpp"
#include "steal/injector.hpp"
#include "steal/publication_slots.hpp"
#include "steal/request.hpp"
#include "steal/splittable_fibers.hpp"
#include "steal/steal.hpp"
#include "steal/steal_parts.hpp"
#include "stress.hpp"
#include "worker.hpp"

#include <sukima/detail/ticks.hpp>

#include <algorithm>

namespace sukima::detail {

void request_poll_all(worker& w) noexcept {
  for (worker& victim : w.runtime->workers.all()) {
    if (&victim == &w) continue;
    // The counts were changed before; the victim reads them (has_idle_workers) after it exchanged its limit.
    if (fiber* const s = victim.current.load(std::memory_order_acquire)) s->limit.request_poll();
  }
}

namespace {

/// Whether the wait has ended.
bool is_called(const worker& w, const task* awaited, permitted_work allowed) noexcept {
  if (awaited != nullptr && is_done(awaited)) return true;
  if (allowed == permitted_work::thread_bound)
    return false;  // such a fiber keeps its thread until its wait ends
  return is_called_home(w) || (w.background && w.runtime->life.is_closed());
}

/// \param by_hint  only a task whose hint names the thief's place
task* steal_from(worker& thief, worker& victim, bool by_hint = false) noexcept {
  const steal_parts& r = parts_of<steal_parts>(thief);
  fiber* const s = victim.current.load(std::memory_order_acquire);
  if (s == nullptr) return nullptr;
  const std::uint64_t entered_at = s->entered_at.load(std::memory_order_relaxed);
  if (entered_at != 0 && ticks() - entered_at < r.tuned.minimum_steal_age) return nullptr;
  const unsigned slots = r.chosen.published_tasks;
  task* const t = by_hint ? s->published.steal_suiting(
                                slots, [&](sukima_place place) { return r.hints.suits(thief, place); })
                          : s->published.steal_oldest(slots);
  if (t == nullptr) return nullptr;
  if (by_hint) ++thief.statistics.steals_by_hint;
  stress_point();
  s->publish_wanted.store(true, std::memory_order_seq_cst);
  s->limit.request_poll();
  ++thief.statistics.steals;
  thief.last_victim = &victim;
  thief.note(trace_kind::steal, victim.id);
  SUKIMA_PROBE(steal, thief.id, victim.id);
  return t;
}

work try_once(worker& thief, task* awaited, permitted_work allowed) {
  steal_parts& r = parts_of<steal_parts>(thief);
  if (awaited != nullptr) {
    worker* const runner = awaited->runner.load(std::memory_order_relaxed);
    if (runner != nullptr && runner != &thief)
      if (task* const t = steal_from(thief, *runner)) return {t, nullptr};
  }
  if (const work found = r.injector.take(awaited, allowed, &thief)) return found;
  const bool hinted = r.hints.in_use();
  if (hinted && allowed != permitted_work::thread_bound)
    if (fiber* const s = r.hints.take_offer(thief)) return {nullptr, s};
  if (allowed != permitted_work::anything) return {};
  if (task* const t = r.unbegun.take(thief)) return {t, nullptr};
  const unsigned count = r.workers.size();
  const unsigned first = first_victim(thief, count);
  for (int by_hint = hinted ? 1 : 0; by_hint >= 0; --by_hint) {
    for (unsigned i = 0; i < count; ++i) {
      worker& victim = r.workers[(first + i) % count];
      if (&victim == &thief) continue;
      if (task* const t = steal_from(thief, victim, by_hint != 0)) return {t, nullptr};
    }
  }
  thief.last_victim = nullptr;
  if (task* const t = r.splittable.split_one(thief)) return {t, nullptr};
  return {nullptr, hinted ? r.hints.take_stale_offer(thief) : nullptr};
}

/// The awaited task's end will unpark the worker (join/complete.cpp).
void register_at(task* awaited, worker& w) noexcept {
  if (awaited == nullptr) return;
  // A worker that is registered already is one on which this fiber waited before.
  const std::uintptr_t self = reinterpret_cast<std::uintptr_t>(&w) | join_sleeper_mark;
  std::uintptr_t registered = awaited->joining.load(std::memory_order_seq_cst);
  while (registered != join_done && registered != self &&
         !awaited->joining.compare_exchange_weak(registered, self, std::memory_order_seq_cst)) {
  }
}

/// Lends the CPU of `w`, which has nothing to do, to a worker that has work but no CPU, if there is one.
bool lend_cpu(worker& w, const task* awaited) noexcept {
  steal_parts& r = parts_of<steal_parts>(w);
  if (awaited != nullptr) {
    worker* const runner = awaited->runner.load(std::memory_order_relaxed);
    return runner != nullptr && runner != &w && r.placement.lend(w, *runner, lending::until_done);
  }
  for (worker& other : r.workers.all()) {
    if (&other == &w || other.current.load(std::memory_order_relaxed) == nullptr) continue;
    if (r.placement.lend(w, other, lending::in_exchange)) return true;
  }
  return false;
}

std::uint64_t in_nanoseconds(std::uint64_t ticks) noexcept {
  return static_cast<std::uint64_t>(static_cast<double>(ticks) / ticks_per_nanosecond());
}

/// The thread for which a worker waits: that of the victim that has its request, or of the worker that runs
/// the task; 0: unknown.
int thread_of(const worker* victim, const task* awaited) noexcept {
  const worker* const runner =
      victim != nullptr || awaited == nullptr ? victim : awaited->runner.load(std::memory_order_relaxed);
  return runner != nullptr ? runner->thread_id.load(std::memory_order_relaxed) : 0;
}

work search(worker& thief, task* awaited) {
  steal_parts& r = parts_of<steal_parts>(thief);
  SUKIMA_ASSERT(thief.mailbox.is_closed(), "no thief waits for a thief: a search closes the mailbox first");
  SUKIMA_ASSERT(thief.reply.load(std::memory_order_seq_cst) == nullptr,
                "a worker that begins to search has accepted each reply");
  const bool publishes = r.chosen.published_tasks != 0;
  r.park.begin_search();
  work found;
  steal_request request;
  std::uint64_t timeout_ns = 0;
  std::uint64_t since = ticks();
  const std::uint64_t begun = since;
  std::uint64_t last_look = since;
  bool has_slept = false;
  const auto look = [&] {
    found = try_once(thief, awaited, permitted_work::anything);
    if (!found && !publishes) found.fresh = request.poll(thief);
    return static_cast<bool>(found);
  };
  while (!is_called(thief, awaited, permitted_work::anything)) {
    r.life.exit_if_orphaned();
    // Read before the last search: a worker that publishes after that search advances it.
    const std::uint32_t seen = thief.epoch.read();
    if (r.hints.in_use() && r.hints.must_look(thief)) r.hints.idles(thief);
    if (look()) break;
    if (publishes) request_poll_all(thief);
    const wait_point point = request.is_pending() ? wait_point::reply
                             : awaited != nullptr ? wait_point::result
                                                  : wait_point::idle;
    if (r.placement.is_active() && ticks() - since > r.tuned.before_lending_cpu && lend_cpu(thief, awaited)) {
      last_look = since = ticks();
      if (awaited == nullptr) continue;  // continues to search on the other CPU
    } else if (r.park.spins(point, since, thief.spin)) {
      if (!r.park.sleeps_at(point)) thief.rests(rest_place::searching);
      const std::uint64_t now = ticks();
      r.park.note_look(last_look, now);
      last_look = now;
      continue;
    }
    register_at(awaited, thief);
    if (r.hints.in_use()) r.hints.falls_asleep(thief);
    if (look() || is_called(thief, awaited, permitted_work::anything)) break;
    if (r.hints.in_use() && (thief.flags.load(std::memory_order_seq_cst) & flag_place) != 0) continue;
    // As the sentinel it sleeps at most until it may send a request to a victim again. A parked worker relies
    // on the sentinel.
    if (const std::uint64_t rest = request.next_in(); rest != 0)
      timeout_ns = std::min(timeout_ns, in_nanoseconds(rest));
    thief.epoch.lend_to(thread_of(request.victim(), awaited));
    thief.unparked_at.store(0, std::memory_order_relaxed);
    r.park.park(thief, point, awaited, seen, timeout_ns);
    has_slept = true;
    last_look = ticks();
    r.park.note_wake_up(thief, last_look);
    thief.epoch.lend_to(0);
    if (timeout_ns == 0) since = ticks();
  }
  thief.rests(rest_place::busy);
  if (has_slept) thief.spin.note_sleep(ticks() - begun, r.tuned.longest_learned_spin);
  if (task* const t = request.withdraw(thief)) {
    if (found)
      r.injector.push(t);
    else
      found.fresh = t;
  }
  r.park.end_search();
  SUKIMA_ASSERT(!request.is_pending() && thief.reply.load(std::memory_order_seq_cst) == nullptr,
                "no reply is left on its way");
  SUKIMA_ASSERT(!thief.parked.load(std::memory_order_seq_cst),
                "a worker that has found work does not have the flag `parked`");
  return found;
}

/// The search of a worker that may take only some tasks. It does not count as searching, because other
/// workers must not rely on it. A thread-bound fiber may wait for work that this worker must not take. So if
/// the wait takes long, another worker runs in its place.
work wait_for_descendants(worker& self, task* awaited, permitted_work allowed) {
  steal_parts& r = parts_of<steal_parts>(self);
  work found;
  std::uint64_t timeout_ns = 0;
  const std::uint64_t since = ticks();
  bound_wait bound(r);
  while (!is_called(self, awaited, allowed)) {
    r.life.exit_if_orphaned();
    const std::uint32_t seen = self.epoch.read();
    if ((found = try_once(self, awaited, allowed))) break;
    if (allowed == permitted_work::limited && ticks() - since > r.tuned.fiber_limit_patience) break;
    if (allowed == permitted_work::thread_bound) bound.look();
    if (r.park.spins(wait_point::result, since)) continue;
    register_at(awaited, self);
    if (is_called(self, awaited, allowed)) break;
    self.enter_state(worker_state::sleeping);
    self.epoch.lend_to(thread_of(nullptr, awaited));
    r.park.sleep_with_timeout(self, wait_point::result, seen, timeout_ns,
                              tuning::longest_sleep_for_descendants_ns);
    self.epoch.lend_to(0);
    self.enter_state(worker_state::searching);
  }
  return found;
}

}  // namespace

work find_work(worker& self, task* awaited, permitted_work allowed) {
  steal_parts& r = parts_of<steal_parts>(self);
  if (awaited == nullptr && self.shares_cpu.load(std::memory_order_relaxed)) r.placement.return_lent(self);
  if (work found = try_once(self, awaited, allowed)) return found;
  if (is_called(self, awaited, allowed)) return {};
  self.enter_state(worker_state::searching);
  close_mailbox(self);
  if (r.hints.in_use() && allowed != permitted_work::anything) r.hints.waits(self);
  work found = allowed == permitted_work::anything ? search(self, awaited)
                                                   : wait_for_descendants(self, awaited, allowed);
  open_mailbox(self);
  // Otherwise it publishes its place when it arrives at that work.
  if (r.hints.in_use() && awaited != nullptr && !found)
    r.hints.arrives(*self.current.load(std::memory_order_seq_cst));
  self.enter_state(worker_state::working);
  const bool waits_on = awaited != nullptr && !is_done(awaited);
  if (!waits_on && self.shares_cpu.load(std::memory_order_relaxed)) r.placement.return_lent(self);
  return found;
}

}  // namespace sukima::detail
