// SPDX-License-Identifier: Apache-2.0
#include "steal/injector.hpp"

#include <base/shared/assert.hpp>
#include "constants.hpp"
#include "fiber/fiber.hpp"
#include "join/joining.hpp"
#include "park/park.hpp"
#include "place/place_events.hpp"
#include "remote/node_events.hpp"
#include "steal/steal.hpp"
#include "steal/steal_parts.hpp"
#include "worker.hpp"

#include <mutex>

namespace sukima::detail {

injector_queue::injector_queue(const settings& chosen, parking& park, const place_events& hints)
    : park_(park), hints_(hints), lock_(chosen.policy_at(wait_point::lock)) {}

void injector_queue::push(fiber* runnable) noexcept {
  {
    const std::lock_guard hold(lock_);
    SUKIMA_ASSERT(runnable->suspension.load(std::memory_order_seq_cst).stage() != suspension_stage::suspended,
                  "a fiber that is suspended is not runnable");
    fibers_.push_back(runnable);
    size_.fetch_add(1, std::memory_order_seq_cst);
  }
  park_.wake_sentinel();
}

void injector_queue::push(task* t, queue_end to) noexcept {
  {
    const std::lock_guard hold(lock_);
    if (to == queue_end::back)
      tasks_.push_back(t);
    else
      tasks_.push_front(t);
    size_.fetch_add(1, std::memory_order_seq_cst);
    SUKIMA_ASSERT(!is_done(t), "a task that is queued has not ended");
  }
  park_.wake_sentinel();
}

/// Both under the lock.
fiber* injector_queue::take_fiber(const worker* by) noexcept {
  if (by != nullptr && passed_over_ < tuning::most_passed_over) {
    bool is_first = true;
    const auto suits = [&](const fiber& s) {
      if (hints_.suits(*by, hinted_place(s))) return true;
      is_first = false;
      return false;
    };
    if (fiber* const found = fibers_.take_among(tuning::most_looked_through, suits)) {
      passed_over_ = is_first ? 0 : passed_over_ + 1;
      return found;
    }
  }
  passed_over_ = 0;
  return fibers_.take_first([](const fiber&) { return true; });
}

task* injector_queue::take_task(const task* awaited, permitted_work allowed, const worker* by) noexcept {
  const auto may = [&](const task& t) {
    return allowed == permitted_work::anything || descends(&t, awaited);
  };
  if (by != nullptr) {
    const auto suits = [&](const task& t) { return may(t) && hints_.suits(*by, t.place); };
    if (task* const found = tasks_.take_among(tuning::most_looked_through, suits)) return found;
  }
  return tasks_.take_first(may);
}

work injector_queue::take(const task* awaited, permitted_work allowed, const worker* by) noexcept {
  if (size_.load(std::memory_order_seq_cst) == 0) return {};
  if (by != nullptr && !hints_.in_use()) by = nullptr;
  const std::lock_guard hold(lock_);
  work found;
  if (allowed != permitted_work::thread_bound && !fibers_.empty()) {
    // Takes the place of the fiber that parks for it: the limit holds.
    found.runnable = take_fiber(by);
  } else {
    found.fresh = take_task(awaited, allowed, by);
  }
  if (found) size_.fetch_sub(1, std::memory_order_seq_cst);
  SUKIMA_ASSERT((size_.load(std::memory_order_seq_cst) == 0) == (fibers_.empty() && tasks_.empty()),
                "the injector queue's size is that of its lists");
  return found;
}

fiber* injector_queue::take_runnable() noexcept {
  if (size_.load(std::memory_order_seq_cst) == 0) return nullptr;
  const std::lock_guard hold(lock_);
  fiber* const found = fibers_.empty() ? nullptr : take_fiber(nullptr);
  if (found != nullptr) size_.fetch_sub(1, std::memory_order_seq_cst);
  return found;
}

task* injector_queue::take_for_node() noexcept {
  if (size_.load(std::memory_order_seq_cst) == 0) return nullptr;
  const std::lock_guard hold(lock_);
  task* const found = tasks_.take_first([&](const task& t) {
    return t.owner == &node_events::elsewhere() ||
           (t.kind != nullptr && t.kind->travel != nullptr && !t.stays);  // keep_here sets it before the push
  });
  if (found != nullptr) size_.fetch_sub(1, std::memory_order_seq_cst);
  return found;
}

void inject_published(fiber& s) noexcept {
  steal_parts& r = parts_of<steal_parts>(s);
  for (unsigned i = 0; i < r.chosen.published_tasks; ++i)
    if (task* const t = s.published.empty(i)) r.injector.push(t);
}

}  // namespace sukima::detail
