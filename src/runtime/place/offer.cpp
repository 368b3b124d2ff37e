// SPDX-License-Identifier: Apache-2.0
// Offers a fiber to another place, and takes fibers that are on offer. Protocol: hints.hpp.
#include <base/shared/assert.hpp>
#include "cancel/abort.hpp"
#include "fiber/fiber.hpp"
#include "fiber/switch.hpp"
#include "observe/trace.hpp"
#include "park/call_home.hpp"
#include "park/park.hpp"
#include "park/wait_turn.hpp"
#include "place/hints.hpp"
#include "steal/injector.hpp"
#include "steal/steal.hpp"
#include "steal/steal_parts.hpp"
#include "stress.hpp"
#include "worker.hpp"

#include <sukima/detail/placed.hpp>
#include <sukima/detail/ticks.hpp>

#include <algorithm>
#include <utility>

namespace sukima::detail {

bool placement_hints::offer::make(fiber* s) noexcept {
  since.store(ticks(), std::memory_order_relaxed);
  stress_point();
  fiber* none = nullptr;
  return on_offer.compare_exchange_strong(none, s, std::memory_order_seq_cst);
}

bool placement_hints::offer::take(fiber* s) noexcept {
  stress_point();
  return on_offer.compare_exchange_strong(s, nullptr, std::memory_order_seq_cst);
}

bool placement_hints::poll(fiber& self, std::uint32_t flags) noexcept {
  const bool was_asked = (flags & flag_place) != 0;
  worker& w = *self.on;
  if (has_unreported(self)) {
    self.innermost->since = w.hints.away_since = ticks();
    w.hints.has_rung = false;
  } else if (!was_asked && (self.early_poll == nullptr || ticks() - w.hints.away_since < threshold_)) {
    return false;
  }
  if (was_asked) clear_place_flag(w);
  see(w);
  const situation now = look(w, self);
  count_time(w, now.near, hinted_place(self));
  if (chosen_.placement != placement_policy::exchange) return false;
  if (now.available == availability::yields) {
    if (fiber* const other = take_offer(w)) {
      swap(self, *other);
      return true;
    }
  }
  sukima_place wanted = SUKIMA_PLACE_ANY;
  self.early_poll = nullptr;
  if (now.wanted == SUKIMA_PLACE_ANY) {
    w.hints.away_since = 0;
  } else {
    if (w.hints.away_since == 0) w.hints.away_since = ticks();  // the kernel has moved the thread
    if (ticks() - w.hints.away_since < threshold_)
      poll_early(self);
    else if (exchanges())
      wanted = now.wanted;
  }
  say(w, now.available, wanted);
  if (wanted != SUKIMA_PLACE_ANY)
    if (worker* const to = find_partner(w, wanted); to != nullptr && make_offer(self, *to, wanted))
      return true;
  const bool has_asked = now.available == availability::yields && ask_for(w);
  if (was_asked && !has_asked && wanted == SUKIMA_PLACE_ANY) pass_on(w);
  return false;
}

/// The worker of `s` runs `other` instead. The first worker that takes `s` continues it.
void placement_hints::swap(fiber& s, fiber& other) noexcept {
  inject_published(s);  // thieves would not find them on a fiber that does not run
  switch_to(
      *s.on, s, other, [](worker& w, fiber* from, void*) { parts_of<steal_parts>(w).injector.push(from); },
      nullptr);
  look_for_abort(s);  // flags set while it did not run went to the workers
}

/// Offers the fiber to that place, where `to` would take it. \returns false if it made no offer
bool placement_hints::make_offer(fiber& self, worker& to, sukima_place place) noexcept {
  worker& w = *self.on;
  tables& t = *tables_.load(std::memory_order_relaxed);
  if (t.offers[place].on_offer.load(std::memory_order_seq_cst) != nullptr) return false;
  fiber* const fresh = w.take_fiber();
  if (fresh == nullptr) return false;
  SUKIMA_ASSERT(w.hints.offered == nullptr, "a worker offers one fiber at a time");
  w.hints.offered = &self;
  w.hints.offered_to = place;
  w.hints.asked = &to;
  switch_for_offer(w, self, *fresh, [](worker& left, fiber* from, void*) {
    // Only here is the switch complete, so that another worker may continue the fiber.
    auto& hints = static_cast<placement_hints&>(parts_of<steal_parts>(left).hints);
    worker& partner = *left.hints.asked;
    left.hints.is_refused =
        !hints.tables_.load(std::memory_order_relaxed)->offers[left.hints.offered_to].make(from);
    if (left.hints.is_refused) return;
    hints.offers_.fetch_add(1, std::memory_order_relaxed);
    request_place_check(partner);
    // A worker in falls_asleep looks for offers once more after it has changed this.
    if (partner.hints.available.load(std::memory_order_seq_cst) == availability::asleep) unpark(partner);
  });
  look_for_abort(self);  // flags set while it did not run went to the workers
  // If the fiber is back on its worker, the worker still wants the place, and a worker that can take the
  // fiber will request it. Otherwise another worker runs the fiber now.
  if (!std::exchange(self.on->hints.is_back, false)) arrives(self);
  return true;
}

fiber* placement_hints::end_offer(worker& by) noexcept {
  fiber* const s = by.hints.offered;
  if (s == nullptr) return nullptr;
  by.hints.offered = nullptr;
  by.hints.is_back = by.hints.is_refused;
  if (by.hints.is_refused) return s;
  offer& made = tables_.load(std::memory_order_relaxed)->offers[by.hints.offered_to];
  const std::uint64_t begun = ticks();
  const std::uint64_t patience = std::max(by.hints.patience, tuned_.offer_wait);
  const auto waits = [&] { return ticks() - begun < patience && !is_called_home(by); };
  while (made.on_offer.load(std::memory_order_relaxed) == s && waits()) wait_a_moment(wait_policy::pause);
  // If the fiber was taken, and is on offer again, this worker may take it like any other worker.
  if (made.on_offer.load(std::memory_order_seq_cst) == s && made.take(s)) {
    offers_.fetch_sub(1, std::memory_order_relaxed);
    ++by.statistics.offers_taken_back;
    by.note(trace_kind::taken_back, by.hints.offered_to);
    by.hints.patience = std::min(2 * patience, tuned_.longest_offer_wait);
    by.hints.is_back = true;
    return s;
  }
  by.hints.patience = 0;
  by.hints.away_since = 0;
  count_time(by, nearness::no_place);
  const bool was_asked = clear_place_flag(by);
  say(by, availability::away, SUKIMA_PLACE_ANY);
  if (was_asked) pass_on(by);
  // The other worker's fiber will be in the queue in a moment. This worker begins no new work before that.
  while (injector_.is_empty() && waits()) wait_a_moment(wait_policy::pause);
  return nullptr;
}

fiber* placement_hints::take_offer(worker& by) noexcept {
  tables& t = *tables_.load(std::memory_order_relaxed);
  const int cpu = by.hints.cpu.read();
  if (cpu < 0) return nullptr;
  sukima_place_facts facts{};
  for (sukima_place p = sukima_place_table_of_cpu(&t.machine, static_cast<std::uint32_t>(cpu));
       p != SUKIMA_PLACE_ANY && p != SUKIMA_PLACE_WHOLE; p = facts.around) {
    fiber* const s = t.offers[p].on_offer.load(std::memory_order_seq_cst);
    if (s != nullptr && t.offers[p].take(s)) {
      offers_.fetch_sub(1, std::memory_order_relaxed);
      ++by.statistics.exchanges;
      by.note(trace_kind::exchange, p);
      return s;
    }
    sukima_place_table_facts(&t.machine, p, &facts);
  }
  return nullptr;
}

fiber* placement_hints::take_stale_offer(worker& by) noexcept {
  if (offers_.load(std::memory_order_relaxed) == 0) return nullptr;
  tables& t = *tables_.load(std::memory_order_relaxed);
  for (std::uint32_t p = 1; p <= t.count; ++p) {
    fiber* const s = t.offers[p].on_offer.load(std::memory_order_seq_cst);
    const std::uint64_t age = ticks() - t.offers[p].since.load(std::memory_order_relaxed);
    // The counter of another CPU may be ahead of this one's: then the difference is huge.
    if (s == nullptr || age < tuned_.stale_offer || static_cast<std::int64_t>(age) < 0) continue;
    if (t.offers[p].take(s)) {
      offers_.fetch_sub(1, std::memory_order_relaxed);
      ++by.statistics.offers_taken_elsewhere;
      by.note(trace_kind::taken_elsewhere, p);
      return s;
    }
  }
  return nullptr;
}

}  // namespace sukima::detail
