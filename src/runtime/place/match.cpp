// SPDX-License-Identifier: Apache-2.0
// Matching workers that want a place with those that are there. Protocol: hints.hpp.
#include "core.hpp"
#include "place/hints.hpp"

namespace sukima::detail {

void request_place_check(worker& w) noexcept {
  w.flags.fetch_or(flag_place);  // then `current` is read: partner arrive() in switch.cpp
  stress_point();
  if (fiber* const s = w.current.load()) s->limit.request_poll();
}

bool clear_place_flag(worker& w) noexcept {
  if ((w.flags.load() & flag_place) == 0) return false;
  return (w.flags.fetch_and(~flag_place) & flag_place) != 0;
}

/// Sequentially consistent stores; afterwards the caller looks at what others say.
void placement_hints::say(worker& w, availability available, sukima_place wanted) noexcept {
  stress_point();
  w.hints.available.store(available);  // partner: find_partner, pass_on
  stress_point();
  const sukima_place before = w.hints.wanted.exchange(wanted);  // partner: ask_for, pass_on
  if ((before == SUKIMA_PLACE_ANY) != (wanted == SUKIMA_PLACE_ANY))
    wanting_.fetch_add(wanted != SUKIMA_PLACE_ANY ? 1u : ~0u);
  stress_point();
}

/// A worker in that place which would take the caller's fiber; null: none does now. One that sleeps there is
/// woken, once for each wish: it asks then.
worker* placement_hints::find_partner(worker& w, sukima_place wanted) noexcept {
  worker* yielding = nullptr;
  worker* sleeping = nullptr;
  for (worker& other : core_.workers.all()) {
    if (&other == &w || !is_in(other, wanted)) continue;
    switch (other.hints.available.load()) {
      case availability::idle:
        return &other;
      case availability::yields:
        yielding = &other;
        break;
      case availability::asleep:
        sleeping = &other;
        break;
      case availability::insists:
      case availability::away:
        break;
    }
  }
  if (yielding == nullptr && sleeping != nullptr && !w.hints.has_rung) {
    w.hints.has_rung = true;
    request_place_check(*sleeping);
    unpark(*sleeping);
  }
  return yielding;
}

/// Asks a worker that wants a place of the caller's, which yields or is idle. \returns was there one?
bool placement_hints::ask_for(const worker& w) noexcept {
  if (wanting_.load() == 0) return false;
  for (worker& other : core_.workers.all()) {
    const sukima_place wanted = other.hints.wanted.load();
    if (&other == &w || wanted == SUKIMA_PLACE_ANY || !is_in(w, wanted)) continue;
    request_place_check(other);
    // Its wish may have been over before it could see the request: then another one is to be asked.
    if (other.hints.wanted.load() == wanted) return true;
  }
  return false;
}

/// The caller was asked and can do nothing about it: asks another worker that wants a place where somebody
/// yields.
void placement_hints::pass_on(const worker& w) noexcept {
  if (wanting_.load() == 0) return;
  const auto yields_in = [&](sukima_place place) {
    for (worker& there : core_.workers.all()) {
      const availability now = there.hints.available.load();
      if ((now == availability::yields || now == availability::idle) && is_in(there, place)) return true;
    }
    return false;
  };
  for (worker& other : core_.workers.all()) {
    const sukima_place wanted = other.hints.wanted.load();
    if (&other == &w || wanted == SUKIMA_PLACE_ANY || !yields_in(wanted)) continue;
    request_place_check(other);
    if (other.hints.wanted.load() == wanted) return;
  }
}

}  // namespace sukima::detail
