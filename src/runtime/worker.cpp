// SPDX-License-Identifier: Apache-2.0
// What belongs to one worker: its random numbers, its few cached fibers, its clock.
#include "core.hpp"

#include <sukima/detail/loop.hpp>

namespace sukima::detail {

std::uint64_t worker::random() noexcept {
  // xorshift64*: a victim's choice needs no better one.
  random_state ^= random_state >> 12;
  random_state ^= random_state << 25;
  random_state ^= random_state >> 27;
  return random_state * 0x2545F4914F6CDD1Dull;
}

fiber* worker::take_fiber() {
  fiber* s = nullptr;
  if (cached != 0) {
    s = cache[--cached];
    reset(*s);
  } else {
    s = runtime->fibers.take();
    if (s == nullptr) return nullptr;
  }
  make_fresh(*s);
  return s;
}

void worker::give_fiber(fiber* s) noexcept {
  trim(*s);
  if (cached < cache.size())
    cache[cached++] = s;
  else
    runtime->fibers.give(s);
}

void worker::enter_state(worker_state next) noexcept {
  if (next != state) enter_state(next, ticks());
}

void worker::enter_state(worker_state next, std::uint64_t now) noexcept {
  counts.ticks_in_state[static_cast<unsigned>(state)] += now - state_since;
  state = next;
  state_since = now;
  if (trace != nullptr) trace->add(static_cast<trace_kind>(next), now);
}

void worker::note(trace_kind kind, std::uint32_t argument) noexcept {
  if (trace != nullptr) trace->add(kind, ticks(), argument);
}

}  // namespace sukima::detail
