// SPDX-License-Identifier: Apache-2.0
#include "steal/splittable_fibers.hpp"

#include <base/shared/assert.hpp>
#include "choice/backtrack.hpp"
#include "fiber/fiber.hpp"
#include "fiber/suspend.hpp"
#include "stress.hpp"
#include "worker.hpp"

#include <mutex>

namespace sukima::detail {

void splittable_fibers::add(fiber* suspended) noexcept {
  const std::lock_guard hold(lock_);
  if (suspended->is_listed_splittable) return;  // an earlier suspension has listed it
  suspended->is_listed_splittable = true;
  fibers_.push_back(suspended);
  size_.fetch_add(1, std::memory_order_seq_cst);
}

fiber* splittable_fibers::take() noexcept {
  const std::lock_guard hold(lock_);
  while (fiber* const candidate = fibers_.take_first([](const fiber&) { return true; })) {
    candidate->is_listed_splittable = false;
    size_.fetch_sub(1, std::memory_order_seq_cst);
    SUKIMA_ASSERT((size_.load(std::memory_order_seq_cst) == 0) == fibers_.empty(),
                  "the size of the splittable fibers' list is right");
    if (hold_suspended(*candidate)) return candidate;
  }
  return nullptr;
}

task* splittable_fibers::split_one(worker& helper) noexcept {
  if (size_.load(std::memory_order_seq_cst) == 0) return nullptr;
  fiber* const s = take();
  if (s == nullptr) return nullptr;
  stress_point();
  // The fiber may still be listed from an earlier suspension, and wait in wait_at_poll now. Then no part of
  // its work may be split off.
  task* const t = s->suspended_end != nullptr
                      ? split_oldest(*s, reinterpret_cast<choice_point*>(s->suspended_end), nullptr, helper)
                      : nullptr;
  if (t != nullptr) ++helper.statistics.promotions;
  const bool more = has_splittable_work(*s);
  const bool cancellable = s->on_cancel != nullptr;
  if (let_go_suspended(*s)) {
    if (more) add(s);
    if (cancellable && s->cancel_check.load(std::memory_order_seq_cst)) cancel_if_concerned(*s);
  } else {
    make_runnable(*s);  // it was resumed while the helper held it
  }
  return t;
}

}  // namespace sukima::detail
