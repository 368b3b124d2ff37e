// SPDX-License-Identifier: Apache-2.0
// Protocol: suspensions.hpp.
#include "cancel/suspensions.hpp"

#include <base/shared/assert.hpp>
#include "cancel/abort.hpp"
#include "fiber/fiber.hpp"
#include "fiber/suspend.hpp"
#include "join/join_parts.hpp"
#include "park/park.hpp"
#include "stress.hpp"

#include <sukima/suspend.hpp>

namespace sukima::detail {

namespace {

/// Only for a fiber that the caller holds. Excludes a fiber that unwinds its stack.
bool must_leave_held(const fiber& s) noexcept { return s.exceptions.uncaught == 0 && is_concerned(s); }

}  // namespace

void cancellable_suspensions::add(fiber& s, const cancel_action& action) noexcept {
  const std::lock_guard hold(lock_);
  s.on_cancel = &action;
  s.cancel_called = false;
  s.cancel_check.store(false, std::memory_order_relaxed);
  s.listed_on = s.on;  // until it waits
  s.listed_before = nullptr;
  s.listed_after = first_;
  if (first_ != nullptr) first_->listed_before = &s;
  first_ = &s;
  // Counted first: the fiber looks for an abort after this, and cancel_those_concerned reads the count after
  // the abort was written.
  count_.fetch_add(1, std::memory_order_seq_cst);
}

void cancellable_suspensions::remove(fiber& s) noexcept {
  const std::lock_guard hold(lock_);
  SUKIMA_ASSERT(first_ != nullptr && count_.load(std::memory_order_seq_cst) != 0,
                "a fiber that leaves the list was in it");
  (s.listed_before != nullptr ? s.listed_before->listed_after : first_) = s.listed_after;
  if (s.listed_after != nullptr) s.listed_after->listed_before = s.listed_before;
  s.on_cancel = nullptr;
  count_.fetch_sub(1, std::memory_order_seq_cst);
  SUKIMA_ASSERT((count_.load(std::memory_order_seq_cst) == 0) == (first_ == nullptr),
                "the number of listed suspensions is right");
}

void cancellable_suspensions::waits_on(fiber& s, worker& w) noexcept {
  const std::lock_guard hold(lock_);
  s.listed_on = &w;
}

/// Under the lock, for a listed fiber.
bool cancellable_suspensions::hold_if_concerned(fiber& s) noexcept {
  if (!hold_suspended(s)) return false;
  if (!s.cancel_called && must_leave_held(s)) {
    s.cancel_called = true;
    return true;
  }
  if (!let_go_suspended(s)) make_runnable(s);
  return false;
}

/// Without the lock: an action may cancel something itself.
void cancellable_suspensions::cancel_held(fiber* first) noexcept {
  while (first != nullptr) {
    fiber* const s = first;
    first = s->next;
    s->on_cancel->call(s->on_cancel->closure, suspension_resumer(*s));
    if (!let_go_suspended(*s)) make_runnable(*s);
  }
}

void cancellable_suspensions::cancel_those_concerned() noexcept {
  if (count_.load(std::memory_order_seq_cst) == 0) return;
  fiber* held = nullptr;
  {
    const std::lock_guard hold(lock_);
    for (fiber* s = first_; s != nullptr; s = s->listed_after) {
      stress_point();
      bool concerned = hold_if_concerned(*s);
      if (!concerned) {
        // Whatever its stage was, a helper may have let it go since. So the stage is read again.
        s->cancel_check.store(true, std::memory_order_seq_cst);
        stress_point();
        concerned = hold_if_concerned(*s);
        // Only if it waits in place does it need the wake-up. Then it has stored its worker (waits_on).
        if (!concerned) unpark(*s->listed_on);
      }
      if (!concerned) continue;
      s->next = held;
      held = s;
    }
  }
  cancel_held(held);
}

void cancellable_suspensions::cancel_if_concerned(fiber& s) noexcept {
  {
    const std::lock_guard hold(lock_);
    // The fiber may have continued, and may even be suspended again. But then it has listed itself again, if
    // at all.
    if (s.on_cancel == nullptr || !hold_if_concerned(s)) return;
    s.next = nullptr;
  }
  cancel_held(&s);
}

void cancellable_suspensions::cancel_in_place(fiber& s) noexcept {
  if (!s.cancel_check.exchange(false, std::memory_order_seq_cst) || s.cancel_called || !must_leave(s)) return;
  s.cancel_called = true;
  s.on_cancel->call(s.on_cancel->closure, suspension_resumer(s));
}

void cancel_if_concerned(fiber& s) noexcept { parts_of<join_parts>(s).suspensions.cancel_if_concerned(s); }

}  // namespace sukima::detail
