// SPDX-License-Identifier: Apache-2.0
#include "control/blocking_compensation.hpp"

#include <base/shared/assert.hpp>
#include "constants.hpp"
#include "control/monitor.hpp"
#include "control/worker_controller.hpp"
#include "fiber/fiber.hpp"
#include "fiber/switch.hpp"
#include "join/give_away.hpp"
#include "park/cpu_use.hpp"
#include "park/park_parts.hpp"
#include "place/place_events.hpp"
#include "steal/injector.hpp"
#include "steal/steal.hpp"
#include "worker.hpp"
#include "worker_target.hpp"

#include <sukima/blocking.hpp>

#include <algorithm>

namespace sukima::detail {

void blocking_compensation::begin() noexcept {
  blocked_.fetch_add(1, std::memory_order_seq_cst);
  controller_.compensate("a worker waits outside");
}

void blocking_compensation::end() noexcept {
  SUKIMA_ASSERT(blocked_.load(std::memory_order_seq_cst) != 0, "a wait that ends was counted when it began");
  if (blocked_.fetch_sub(1, std::memory_order_seq_cst) == 1) controller_.end_compensation();
}

bool blocking_compensation::begin_bound() noexcept {
  // Counted before this thread or another one computes the target.
  bound_.fetch_add(1, std::memory_order_seq_cst);
  if (controller_.compensate("a thread-bound fiber waits")) return true;
  // The next turn of the wait tries again. Another wait may have ended since, without being the last one.
  end_bound();
  return false;
}

void blocking_compensation::end_bound() noexcept {
  SUKIMA_ASSERT(bound_.load(std::memory_order_seq_cst) != 0, "a wait that ends was counted when it began");
  if (bound_.fetch_sub(1, std::memory_order_seq_cst) == 1) controller_.end_compensation();
}

bool blocking_compensation::begin_standing(unsigned entered) noexcept {
  const unsigned standing = standing_.fetch_add(1, std::memory_order_relaxed) + 1;
  const unsigned workers = controller_.background_workers() + entered;
  if (workers > standing + bound_.load(std::memory_order_seq_cst)) return true;
  end_standing();
  return false;
}

void blocking_compensation::end_standing() noexcept {
  const unsigned before = standing_.fetch_sub(1, std::memory_order_relaxed);
  SUKIMA_ASSERT(before != 0, "a wait that ends was counted when it began");
  static_cast<void>(before);
}

bool blocking_compensation::begin_outside() noexcept {
  outside_.fetch_add(1, std::memory_order_seq_cst);
  monitor_.wait_begins();
  if (controller_.compensate("a thread waits for a future") || target_.count() > 1) return true;
  end_outside();
  return false;
}

void blocking_compensation::end_outside() noexcept {
  SUKIMA_ASSERT(outside_.load(std::memory_order_seq_cst) != 0, "a wait that ends was counted when it began");
  // The target is adapted at once. The monitor, which otherwise does it, may find no thread inside and doze.
  if (outside_.fetch_sub(1, std::memory_order_seq_cst) == 1)
    controller_.reconsider("threads have stopped waiting for futures");
}

bool blocking_compensation::begin_outside_region() noexcept { return monitor_.wait_comes_from_region(); }

void blocking_compensation::end_outside_region() noexcept { monitor_.returns_to_region(); }

unsigned blocking_compensation::workers() const noexcept {
  return std::min(blocked_.load(std::memory_order_seq_cst), tuning::most_compensated) +
         bound_.load(std::memory_order_seq_cst) + (has_outside() ? 1 : 0);
}

void blocking_compensation::begin_serving() { monitor_.start(); }

bool blocking_begins(char* top) {
  fiber* const s = running_fiber();
  if (s == nullptr) return false;
  park_parts& r = parts_of<park_parts>(*s);
  inject_published(*s);
  if (top == nullptr) top = s->ambient->top;
  if (top != nullptr)
    give_work_away(*s, reinterpret_cast<choice_point*>(top), tuning::max_tasks_given_by_blocking,
                   queue_end::back);
  if (s->on->is_pinned()) r.placement.unpin(*s->on);
  if (r.hints.in_use()) r.hints.waits(*s->on);
  r.blocking.begin();
  return true;
}

void blocking_ends() noexcept {
  fiber* const s = running_fiber();
  park_parts& r = parts_of<park_parts>(*s);
  if (r.placement.is_active()) r.placement.pin_again(*s->on);
  r.blocking.end();
  if (r.hints.in_use()) r.hints.arrives(*s);
}

}  // namespace sukima::detail
