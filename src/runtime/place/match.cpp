// SPDX-License-Identifier: Apache-2.0
// Matches workers whose fibers want a place with workers in that place. Protocol: hints.hpp.
#include "fiber/fiber.hpp"
#include "park/park.hpp"
#include "place/hints.hpp"
#include "stress.hpp"
#include "worker.hpp"

namespace sukima::detail {

/// Publishes both values by sequentially consistent stores. Afterwards the caller reads those of other
/// workers.
void placement_hints::say(worker& w, availability available, sukima_place wanted) noexcept {
  stress_point();
  w.hints.available.store(available, std::memory_order_seq_cst);
  stress_point();
  const sukima_place before = w.hints.wanted.exchange(wanted, std::memory_order_seq_cst);
  if ((before == SUKIMA_PLACE_ANY) != (wanted == SUKIMA_PLACE_ANY))
    wanting_.fetch_add(wanted != SUKIMA_PLACE_ANY ? 1u : ~0u, std::memory_order_seq_cst);
  stress_point();
}

/// Returns a worker in that place which would take the caller's fiber; null: there is none now. If a worker
/// sleeps there, it is woken, once for each wanted place, and then requests the offer.
worker* placement_hints::find_partner(worker& asking, sukima_place wanted) noexcept {
  worker* yielding = nullptr;
  worker* sleeping = nullptr;
  for (worker& other : workers_.all()) {
    if (&other == &asking || !is_in(other, wanted)) continue;
    switch (other.hints.available.load(std::memory_order_seq_cst)) {
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
  if (yielding == nullptr && sleeping != nullptr && !asking.hints.has_rung) {
    asking.hints.has_rung = true;
    request_place_check(*sleeping);
    unpark(*sleeping);
  }
  return yielding;
}

/// Called by a worker that yields or is idle: requests an offer from a worker that wants one of the caller's
/// places. \returns whether there was one
bool placement_hints::ask_for(const worker& w) noexcept {
  if (wanting_.load(std::memory_order_seq_cst) == 0) return false;
  for (worker& other : workers_.all()) {
    const sukima_place wanted = other.hints.wanted.load(std::memory_order_seq_cst);
    if (&other == &w || wanted == SUKIMA_PLACE_ANY || !is_in(w, wanted)) continue;
    request_place_check(other);
    // It may have stopped wanting a place before it read the request. Then try the next worker.
    if (other.hints.wanted.load(std::memory_order_seq_cst) == wanted) return true;
  }
  return false;
}

/// The caller's flag was set, but the caller wants no place. Sets the flag of another worker that wants a
/// place in which a worker yields.
void placement_hints::pass_on(const worker& asked) noexcept {
  if (wanting_.load(std::memory_order_seq_cst) == 0) return;
  const auto yields_in = [&](sukima_place place) {
    for (worker& there : workers_.all()) {
      const availability now = there.hints.available.load(std::memory_order_seq_cst);
      if ((now == availability::yields || now == availability::idle) && is_in(there, place)) return true;
    }
    return false;
  };
  for (worker& other : workers_.all()) {
    const sukima_place wanted = other.hints.wanted.load(std::memory_order_seq_cst);
    if (&other == &asked || wanted == SUKIMA_PLACE_ANY || !yields_in(wanted)) continue;
    request_place_check(other);
    if (other.hints.wanted.load(std::memory_order_seq_cst) == wanted) return;
  }
}

}  // namespace sukima::detail
