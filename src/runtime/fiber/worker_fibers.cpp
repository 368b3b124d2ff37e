// SPDX-License-Identifier: Apache-2.0
// A worker's cache of fibers.
#include "fiber/fiber.hpp"
#include "fiber/fiber_parts.hpp"
#include "fiber/switch.hpp"
#include "worker.hpp"

namespace sukima::detail {

fiber* worker::take_fiber() {
  fiber* s = nullptr;
  if (cached != 0) {
    s = cache[--cached];
    reset(*s);
  } else {
    s = parts_of<fiber_parts>(*runtime).fibers.take();
    if (s == nullptr) return nullptr;
  }
  make_fresh(*s);
  return s;
}

bool worker::has_spare_fiber() {
  if (cached == 0)
    if (fiber* const spare = take_fiber()) give_fiber(spare);
  return cached != 0;
}

void worker::give_fiber(fiber* s) noexcept {
  if (s->pool != &parts_of<fiber_parts>(*runtime).fibers)
    s->pool->give(s);
  else if (cached < cache.size())
    cache[cached++] = s;
  else
    parts_of<fiber_parts>(*runtime).fibers.give(s);
}

/// Gives the cached fibers to the pool, which destroys them with the objects that they own.
worker::~worker() {
  while (cached != 0) parts_of<fiber_parts>(*runtime).fibers.give(cache[--cached]);
}

}  // namespace sukima::detail
