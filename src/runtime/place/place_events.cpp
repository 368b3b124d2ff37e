// SPDX-License-Identifier: Apache-2.0
#include "place/place_events.hpp"

#include "fiber/fiber.hpp"
#include "stress.hpp"
#include "worker.hpp"

#include <sukima/detail/placed.hpp>

namespace sukima::detail {

sukima_place hinted_place(const fiber& s) noexcept {
  if (s.innermost != nullptr) return s.innermost->place;
  return s.running != nullptr && s.running->place != inherited_place ? s.running->place : SUKIMA_PLACE_ANY;
}

sukima_place hinted_place(const fiber& s, const choice_point* r) noexcept {
  const placed* frame = s.innermost;
  while (frame != nullptr && frame->top > reinterpret_cast<const char*>(r)) frame = frame->outer;
  if (frame != nullptr) return frame->place;
  return s.running->place != inherited_place ? s.running->place : SUKIMA_PLACE_ANY;
}

bool has_unreported(const fiber& s) noexcept { return s.innermost != nullptr && s.innermost->since == 0; }

void request_place_check(worker& w) noexcept {
  // Set first, then `current` is read.
  w.flags.fetch_or(flag_place, std::memory_order_seq_cst);
  stress_point();
  if (fiber* const s = w.current.load(std::memory_order_seq_cst)) s->limit.request_poll();
}

bool clear_place_flag(worker& w) noexcept {
  if ((w.flags.load(std::memory_order_seq_cst) & flag_place) == 0) return false;
  return (w.flags.fetch_and(~flag_place, std::memory_order_seq_cst) & flag_place) != 0;
}

bool place_events::must_look(const worker& w) noexcept {
  return (w.flags.load(std::memory_order_seq_cst) & flag_place) != 0 || w.hints.cpu.read() < 0 ||
         w.hints.available.load(std::memory_order_relaxed) != availability::idle;
}

}  // namespace sukima::detail
