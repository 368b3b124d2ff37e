// SPDX-License-Identifier: Apache-2.0
// Hints: the place of a fiber, the events of a worker that change the variables that it publishes, and the
// handler of a slow poll.
// Protocol: hints.hpp.
#include "place/hints.hpp"

#include <base/shared/assert.hpp>
#include "choice/poll.hpp"
#include "constants.hpp"
#include "fiber/fiber.hpp"
#include "fiber/fiber_parts.hpp"
#include "fiber/switch.hpp"
#include "fiber/unannounced.hpp"
#include "future/future.hpp"
#include "observe/trace.hpp"
#include "park/cpu_use.hpp"
#include "park/park.hpp"
#include "place/made_up_machine.hpp"
#include "place/poll_hints.hpp"
#include "stress.hpp"
#include "worker.hpp"

#include <sukima/detail/placed.hpp>
#include <sukima/detail/ticks.hpp>

#include <algorithm>
#include <new>

namespace sukima::detail {

placement_hints::tables::tables(const sukima_place_table& of)
    : machine(of),
      workers(of),
      count(sukima_place_table_count(&of)),
      offers(new offer[std::size_t{sukima_place_table_count(&of)} + 1]) {}

placement_hints::placement_hints(const settings& chosen, const tuned_ticks& tuned,
                                 const worker_table& workers, launched_futures& launched,
                                 const injector_queue& injector, const cpu_pressure& pressure,
                                 const assigned_cpus& cpus) noexcept
    : chosen_(chosen),
      tuned_(tuned),
      workers_(workers),
      launched_(launched),
      injector_(injector),
      pressure_(pressure),
      cpus_(cpus),
      threshold_(in_ticks(chosen.hint_threshold_ns, ticks_per_nanosecond())) {
  short_below_ = threshold_ / tuning::short_branch_divisor;
}

placement_hints::~placement_hints() { delete tables_.load(std::memory_order_relaxed); }

bool placement_hints::use() noexcept {
  try {
    auto made = std::make_unique<tables>(table_of_machine());
    tables* none = nullptr;
    const bool is_first = tables_.compare_exchange_strong(none, made.get(), std::memory_order_acq_rel);
    in_use_.store(true, std::memory_order_release);
    if (!is_first) return true;
    made.release();
    // No worker was seen in any place so far.
    for (worker& w : workers_.all()) {
      request_place_check(w);
      unpark(w);
    }
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

/// The worker's thread reads on which CPU it is. If its place had no worker before, workers for whose fibers
/// a larger place counted may now want that place.
void placement_hints::see(worker& w) noexcept {
  const int before = w.hints.cpu.read();
  const bool fills = tables_.load(std::memory_order_relaxed)->workers.see(w.hints.cpu, current_cpu(w));
  if (w.hints.cpu.read() != before) launched_.call_workers_to_queues();
  if (!fills) return;
  for (worker& other : workers_.all())
    if (&other != &w && other.hints.settles_for_more.load(std::memory_order_seq_cst))
      request_place_check(other);
}

/// The place that counts for a hint; any: every worker suits.
sukima_place placement_hints::nearest(sukima_place place) const noexcept {
  if (place == SUKIMA_PLACE_ANY) return place;
  const sukima_place found = tables_.load(std::memory_order_relaxed)->workers.nearest_with_worker(place);
  return found == SUKIMA_PLACE_WHOLE ? SUKIMA_PLACE_ANY : found;
}

bool placement_hints::is_in(const worker& w, sukima_place place) const noexcept {
  return tables_.load(std::memory_order_relaxed)->workers.is_in(w.hints.cpu, place);
}

bool placement_hints::suits(const worker& w, sukima_place place) const noexcept {
  const sukima_place near = nearest(place == inherited_place ? SUKIMA_PLACE_ANY : place);
  return near != SUKIMA_PLACE_ANY && is_in(w, near);
}

bool placement_hints::serves(const worker& w, sukima_place place) const noexcept {
  const sukima_place near = nearest(place);
  return near == SUKIMA_PLACE_ANY || is_in(w, near);
}

/// Whether fibers may be exchanged now. If CPU is short, the worker that should take an offer may have no CPU
/// for milliseconds.
bool placement_hints::exchanges() const noexcept {
  return chosen_.placement == placement_policy::exchange && (!pressure_.is_short() || cpus_.is_active());
}

/// The values that a worker publishes while it runs this fiber, once the threshold is reached.
placement_hints::situation placement_hints::look(worker& w, const fiber& s) const noexcept {
  const sukima_place place = hinted_place(s);
  sukima_place near = nearest(place);
  const bool settles_for_more = near != place;
  if (w.hints.settles_for_more.load(std::memory_order_relaxed) != settles_for_more) {
    w.hints.settles_for_more.store(settles_for_more, std::memory_order_seq_cst);
    near = nearest(place);
  }
  const nearness its = near == SUKIMA_PLACE_ANY ? nearness::no_place
                       : is_in(w, near)         ? nearness::at_home
                                                : nearness::away;
  if (s.thread_bindings != 0 || s.home != nullptr || its == nearness::at_home)
    return {availability::insists, SUKIMA_PLACE_ANY, its};
  return {availability::yields, near, its};
}

void count_time(worker& w, nearness near, sukima_place place) noexcept {
  const nearness before = w.hints.near_to;
  if (before == near) return;
  const std::uint64_t now = ticks();
  if (before == nearness::at_home) w.statistics.ticks_at_home += now - w.hints.near_since;
  if (before == nearness::away) w.statistics.ticks_away += now - w.hints.near_since;
  w.hints.near_to = near;
  w.hints.near_since = now;
  w.note(near == nearness::at_home ? trace_kind::at_home
         : near == nearness::away  ? trace_kind::away
                                   : trace_kind::no_place,
         place);
}

void poll_early(fiber& s) noexcept {
  s.early_poll = (s.innermost != nullptr ? s.innermost->top : s.segment) + tuning::early_poll_bytes;
}

/// The worker reports what it runs now. The threshold counts from the last arrival, or from the moment at
/// which the innermost frame with a hint was first reported.
void placement_hints::begin(fiber& self) noexcept {
  worker& w = *self.on;
  if (has_unreported(self)) self.innermost->since = ticks();
  see(w);
  const bool was_asked = clear_place_flag(w);
  const situation now = look(w, self);
  count_time(w, now.near, hinted_place(self));
  if (chosen_.placement != placement_policy::exchange) return;
  self.early_poll = nullptr;
  w.hints.away_since = 0;
  w.hints.has_rung = false;
  if (now.wanted != SUKIMA_PLACE_ANY) {
    w.hints.away_since = std::max(w.hints.arrived, self.innermost != nullptr ? self.innermost->since : 0);
    poll_early(self);
    if (ticks() - w.hints.away_since >= threshold_)
      self.limit.request_poll();
    else if (!self.limit.covers(true_limit(self)))
      self.limit.restore_limit(true_limit(self));
  }
  say(w, now.available, SUKIMA_PLACE_ANY);
  const bool has_asked = now.available == availability::yields && ask_for(w);
  if (was_asked && !has_asked) pass_on(w);
}

void placement_hints::arrives(fiber& s) noexcept {
  s.on->hints.arrived = ticks();
  begin(s);
}

void placement_hints::changes(fiber& s) noexcept { begin(s); }

void placement_hints::idles(worker& w) noexcept {
  see(w);
  count_time(w, nearness::no_place);
  const bool was_asked = clear_place_flag(w);
  if (chosen_.placement != placement_policy::exchange) return;
  w.hints.away_since = 0;
  say(w, availability::idle, SUKIMA_PLACE_ANY);
  if (!ask_for(w) && was_asked) pass_on(w);
}

void placement_hints::falls_asleep(worker& w) noexcept {
  if (chosen_.placement != placement_policy::exchange) return;
  stress_point();
  w.hints.available.store(availability::asleep, std::memory_order_seq_cst);
}

void placement_hints::waits(worker& w) noexcept {
  count_time(w, nearness::no_place);
  if (chosen_.placement == placement_policy::queue) {
    // The awaited task may be waiting in the queue of its place.
    tables_.load(std::memory_order_relaxed)->workers.forget(w.hints.cpu);
    launched_.call_workers_to_queues();
  }
  if (chosen_.placement != placement_policy::exchange) return;
  const bool was_asked = clear_place_flag(w);
  say(w, availability::away, SUKIMA_PLACE_ANY);
  if (was_asked) pass_on(w);
}

void placement_hints::leaves(worker& w) noexcept {
  waits(w);
  tables_.load(std::memory_order_relaxed)->workers.forget(w.hints.cpu);
}

void placement_hints::remind() noexcept {
  if (chosen_.placement != placement_policy::exchange) return;
  for (worker& w : workers_.all())
    if (w.current.load(std::memory_order_seq_cst) != nullptr) request_place_check(w);
}

namespace {

/// Records how many ticks a reported frame took. A long frame with many hints inside is not recorded: one of
/// these hints reports it in time, so it needs no report at its beginning.
void learn(const fiber& s, const placed& frame, std::uint64_t took) noexcept {
  const std::uint64_t short_below = parts_of<fiber_parts>(s).hints.short_below();
  const std::uint32_t inside = s.hinted_frames - frame.number - 1;
  constexpr std::uint32_t often = tuning::frames_for_each_sample / tuning::short_branch_divisor + 1;
  if (took >= short_below && inside != 0 && took / inside < short_below / often) return;
  s.on->hints.branches.note(frame.code, took, short_below, short_below);
}

}  // namespace

bool begin_placed(placed& frame, char* top, const hint_code& code) noexcept {
  fiber& s = fiber_at(top);
  ensure_announced(s);
  place_events& hints = parts_of<fiber_parts>(s).hints;
  if (frame.place == hinted_place(s)) return false;
  if (!hints.in_use() && !hints.use()) return false;
  frame.top = top;
  frame.outer = s.innermost;
  frame.code = &code;
  frame.number = s.hinted_frames++;
  frame.since = 0;
  s.innermost = &frame;
  const bool is_sample = frame.number % tuning::frames_for_each_sample == 0;
  // A worker that wants this worker's place must read its new availability, or its offers fail.
  if (is_sample || hints.has_wishes() || !s.on->hints.branches.expects(&code)) hints.changes(s);
  return true;
}

void end_placed(placed& frame) noexcept {
  fiber& s = fiber_at(frame.top);
  SUKIMA_ASSERT(running_fiber() == &s, "a frame with a hint ends on its own fiber");
  SUKIMA_ASSERT(s.innermost == &frame, "the innermost frame with a hint ends first");
  s.innermost = frame.outer;
  if (frame.since == 0) return;
  const std::uint64_t took = ticks() - frame.since;
  parts_of<fiber_parts>(s).hints.changes(s);
  learn(s, frame, took);
}

poll_step exchange_by_hint(slow_poll& poll) noexcept {
  auto& hints = static_cast<placement_hints&>(parts_of<fiber_parts>(poll.s).hints);
  return hints.in_use() && hints.poll(poll.s, poll.flags) ? poll_step::again : poll_step::next;
}

}  // namespace sukima::detail
