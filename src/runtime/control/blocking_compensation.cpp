// SPDX-License-Identifier: Apache-2.0
#include "control/blocking_compensation.hpp"

#include "core.hpp"

#include <sukima/blocking.hpp>

#include <algorithm>

namespace sukima::detail {

void blocking_compensation::begin() {
  blocked_.fetch_add(1);
  core_.controller.compensate();
}

void blocking_compensation::end() noexcept {
  if (blocked_.fetch_sub(1) == 1) core_.controller.end_compensation();
}

unsigned blocking_compensation::workers() const noexcept {
  return std::min(blocked_.load(), tuning::most_compensated);
}

bool blocking_begins(char* top) {
  fiber* const s = running_fiber();
  if (s == nullptr) return false;
  runtime_core& r = *s->runtime;
  inject_published(*s);
  if (top == nullptr) top = s->ambient->top;
  if (top != nullptr)
    give_work_away(*s, reinterpret_cast<choice_point*>(top), tuning::most_given_by_blocking);
  if (s->on->pinned.load(std::memory_order_relaxed)) r.placement.unpin(*s->on);
  r.blocking.begin();
  return true;
}

void blocking_ends() noexcept {
  const fiber* const s = running_fiber();
  runtime_core& r = *s->runtime;
  if (r.placement.is_active()) r.placement.pin_again(*s->on);
  r.blocking.end();
}

}  // namespace sukima::detail
