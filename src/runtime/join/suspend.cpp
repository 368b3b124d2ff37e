// SPDX-License-Identifier: Apache-2.0
// Suspending and resuming fibers. Protocol: suspend.hpp.
#include "fiber/suspend.hpp"

#include <base/shared/assert.hpp>
#include "cancel/abort.hpp"
#include "cancel/suspensions.hpp"
#include "choice/backtrack.hpp"
#include "constants.hpp"
#include "fiber/fiber.hpp"
#include "fiber/sanitizer.hpp"
#include "fiber/switch.hpp"
#include "join/give_away.hpp"
#include "join/join_parts.hpp"
#include "observe/trace.hpp"
#include "park/compensation.hpp"
#include "park/park.hpp"
#include "place/place_events.hpp"
#include "shared/require_runner.hpp"
#include "steal/injector.hpp"
#include "steal/splittable_fibers.hpp"
#include "steal/steal.hpp"
#include "stress.hpp"
#include "worker.hpp"

#include <sukima/detail/executor.hpp>
#include <sukima/suspend.hpp>

#include <atomic>

namespace sukima::detail {

namespace {

bool change(fiber& s, suspension_word& seen, suspension_stage to) noexcept {
  // The fiber's side of cancel_those_concerned, which writes cancel_check and then reads this word.
  return s.suspension.compare_exchange_strong(seen, suspension_word::make(seen.number(), to),
                                              std::memory_order_seq_cst);
}

/// `then` of a fiber that suspends.
void after_suspend(worker& left, fiber* from, void*) {
  stress_point();
  const bool leaves_work = has_splittable_work(*from);
  const bool cancellable = from->on_cancel != nullptr;
  hands_over(&from->suspension);  // pairs with: hold_suspended
  suspension_word seen = from->suspension.load(std::memory_order_acquire);
  if (seen.stage() == suspension_stage::suspending && change(*from, seen, suspension_stage::suspended)) {
    // From here on the fiber may be resumed: only its address is used, and a thread that takes it from the
    // list tries a CAS.
    if (leaves_work) {
      parts_of<join_parts>(left).splittable.add(from);
      parts_of<join_parts>(left).park.wake_sentinel();
    }
    if (cancellable && from->cancel_check.load(std::memory_order_seq_cst))
      parts_of<join_parts>(left).suspensions.cancel_if_concerned(*from);
    return;
  }
  SUKIMA_ASSERT(seen.stage() == suspension_stage::running, "suspending becomes suspended or running");
  make_runnable(*from);  // the fiber was resumed before the switch was complete
}

/// Waits without a switch, because a thread-bound fiber keeps its thread. If the wait takes long, another
/// worker runs in this worker's place and gets the work that is pending below `top`: the fiber may be waiting
/// for that work.
void wait_in_place(fiber& self, std::uint64_t number, char* top) noexcept {
  worker& w = *self.on;
  const wait_policy policy = w.runtime->chosen.policy_at(wait_point::result);
  bound_wait bound(parts_of<join_parts>(w));
  bool gave_all = top == nullptr;
  if (self.on_cancel != nullptr) parts_of<join_parts>(w).suspensions.waits_on(self, w);
  if (parts_of<join_parts>(w).hints.in_use()) parts_of<join_parts>(w).hints.waits(w);
  for (;;) {
    const std::uint32_t seen = w.epoch.read();
    const suspension_word now = self.suspension.load(std::memory_order_acquire);
    if (now.number() == number && now.stage() == suspension_stage::running) break;
    w.runtime->life.exit_if_orphaned();
    if (self.on_cancel != nullptr) parts_of<join_parts>(w).suspensions.cancel_in_place(self);
    bound.look();
    if (bound.is_compensated() && !gave_all && parts_of<join_parts>(w).injector.is_empty())
      gave_all =
          give_work_away(self, reinterpret_cast<choice_point*>(top), tuning::max_tasks_given_by_blocking,
                         queue_end::front) < tuning::max_tasks_given_by_blocking;
    if (bound.is_compensated() && gave_all)
      w.epoch.wait(policy, seen);
    else
      w.epoch.wait_for(policy, seen, tuning::bound_wait_patience_ns);
  }
  if (parts_of<join_parts>(w).hints.in_use()) parts_of<join_parts>(w).hints.arrives(self);
}

/// Switches away from a fiber that suspends, or waits in place. Returns when the fiber has been resumed.
void stop_until_resumed(fiber& self, std::uint64_t number, char* top) noexcept {
  if (self.thread_bindings != 0) {
    wait_in_place(self, number, top);
    return;
  }
  inject_published(self);
  if (self.home != nullptr) {
    self.home->look_around(self);
    if (self.suspension.load(std::memory_order_acquire).stage() == suspension_stage::running ||
        self.home->leave(self, after_suspend, nullptr))
      return;
  }
  fiber* const other = self.home == nullptr ? self.on->take_fiber() : nullptr;
  if (other == nullptr)
    wait_in_place(self, number, top);
  else
    switch_to(*self.on, self, *other, after_suspend, nullptr);
}

/// The right of a fiber to suspend, until it was resumed. Its worker then runs another fiber. Without memory
/// for one the worker stands still, and the code that resumes the fiber may need a worker. So another worker
/// that does not stand still must be left. A thread-bound fiber always keeps its worker (bound_wait).
class suspension_right {
 public:
  /// \throws shortage
  explicit suspension_right(const fiber& s) {
    if (s.thread_bindings != 0 || (s.home != nullptr && s.home->has_own_thread()) || s.on->has_spare_fiber())
      return;
    // Others of its executor would wait for its token.
    if (s.home != nullptr ||
        !parts_of<join_parts>(s).blocking.begin_standing(parts_of<join_parts>(s).park.counts().entries))
      throw no_fiber();
    stands_in_ = &parts_of<join_parts>(s).blocking;
  }
  ~suspension_right() {
    if (stands_in_ != nullptr) stands_in_->end_standing();
  }
  suspension_right(const suspension_right&) = delete;
  suspension_right& operator=(const suspension_right&) = delete;

 private:
  compensation* stands_in_ = nullptr;
};

}  // namespace

void require_runner(const fiber& waits) { const suspension_right would_have(waits); }

resumer suspension_resumer(fiber& s) noexcept {
  return resumer(&s, s.suspension.load(std::memory_order_relaxed).number());
}

namespace {

/// \returns the running fiber \throws usage_error
fiber& suspending_fiber() {
  fiber* const current = running_fiber();
  if (current == nullptr)
    throw usage_error(
        "sukima: suspend was called outside a runtime; only code inside a runtime can be suspended");
  if (current->calls_suspender)
    throw usage_error(
        "sukima: the function that was passed to suspend waits for a future, a group or another event; let "
        "it wait before the call of suspend, or after it");
  return *current;
}

}  // namespace

void require_suspension() { require_runner(suspending_fiber()); }

void suspend_running(char* top, void (*store)(void*, resumer), void* closure, const cancel_action* cancel) {
  fiber& s = suspending_fiber();
  struct listing {
    fiber& of;
    ~listing() {
      if (of.on_cancel != nullptr) parts_of<join_parts>(of).suspensions.remove(of);
    }
  } const listed{s};
  if (cancel != nullptr) {
    parts_of<join_parts>(s).suspensions.add(s, *cancel);
    leave_if_aborted(s);  // an abort that is written later finds the fiber in the list
  }
  const suspension_right has_it(s);
  const std::uint64_t number = begin_suspension(s);
  if (top == nullptr) top = s.ambient->top;
  s.suspended_end = s.thread_bindings != 0 ? nullptr : top;
  s.calls_suspender = true;
  try {
    store(closure, resumer(&s, number));
    s.calls_suspender = false;
  } catch (...) {
    s.calls_suspender = false;
    s.suspension.store(suspension_word::make(number, suspension_stage::running), std::memory_order_release);
    throw;
  }
  ++s.on->statistics.suspensions;
  s.on->note(trace_kind::suspend);
  stop_until_resumed(s, number, top);
  SUKIMA_ASSERT(running_fiber() == &s, "a resumed fiber goes on on its own stack");
  SUKIMA_ASSERT(s.suspension.load(std::memory_order_seq_cst).bits ==
                    suspension_word::make(number, suspension_stage::running).bits,
                "a fiber that goes on was resumed from this suspension");
  takes_over(&s.suspension);  // pairs with: try_resume, let_go_suspended
  look_for_abort(s);  // flags were sent to the workers during the wait
  s.limit.request_poll();
  if (cancel != nullptr) leave_if_aborted(s);
}

unsigned* running_thread_bindings() noexcept {
  fiber* s = running_fiber();
  return s != nullptr ? &s->thread_bindings : nullptr;
}

bool try_resume(fiber& suspended, std::uint64_t number) noexcept {
  const lifetime::resuming here(suspended.runtime->life);
  hands_over(&suspended.suspension);  // pairs with: suspend_running
  suspension_word seen = suspended.suspension.load(std::memory_order_acquire);
  for (;;) {
    if (seen.number() != number || seen.stage() == suspension_stage::running ||
        seen.stage() == suspension_stage::splitting_and_resumed)
      return false;
    // The fiber may wait in place, because it is thread-bound or there was no memory for another fiber. Then
    // only the epoch of its worker wakes it.
    // pairs with: arrive, switch_within in switch.cpp
    worker* const on = std::atomic_ref(suspended.on).load(std::memory_order_relaxed);
    const suspension_stage to = seen.stage() == suspension_stage::splitting
                                    ? suspension_stage::splitting_and_resumed
                                    : suspension_stage::running;
    const suspension_stage from = seen.stage();
    if (!change(suspended, seen, to)) continue;
    if (from == suspension_stage::suspended) make_runnable(suspended);
    if (from == suspension_stage::suspending) unpark(*on);
    return true;
  }
}

void resume_fiber(fiber& s, std::uint64_t number) {
  if (!try_resume(s, number)) throw usage_error("sukima: a suspension was resumed twice");
}

std::uint64_t begin_suspension(fiber& s) noexcept {
  SUKIMA_ASSERT(s.suspension.load(std::memory_order_seq_cst).stage() == suspension_stage::running,
                "a fiber that suspends was running");
  const std::uint64_t number = s.suspension.load(std::memory_order_relaxed).number() + 1;
  s.suspension.store(suspension_word::make(number, suspension_stage::suspending), std::memory_order_release);
  return number;
}

bool claim_suspension(fiber& s, std::uint64_t number) noexcept {
  suspension_word seen = suspension_word::make(number, suspension_stage::suspending);
  return change(s, seen, suspension_stage::running);
}

bool is_suspended(const fiber& s, std::uint64_t number, bool in_place) noexcept {
  const suspension_word seen = s.suspension.load(std::memory_order_acquire);
  return seen.number() == number &&
         seen.stage() == (in_place ? suspension_stage::suspending : suspension_stage::suspended);
}

void finish_suspension(fiber& s) {
  const suspension_word seen = s.suspension.load(std::memory_order_acquire);
  if (seen.stage() == suspension_stage::suspending) {
    ++s.on->statistics.suspensions;
    s.suspended_end = s.thread_bindings != 0 ? nullptr : s.ambient->top;
    stop_until_resumed(s, seen.number(), s.ambient->top);
  }
  takes_over(&s.suspension);  // pairs with: try_resume
  look_for_abort(s);  // flags were sent to the workers during the wait
  s.limit.request_poll();
}

void wait_at_poll(fiber& s) noexcept {
  ++s.on->statistics.suspensions;
  s.on->note(trace_kind::suspend);
  s.suspended_end = nullptr;
  stop_until_resumed(s, s.suspension.load(std::memory_order_relaxed).number(), nullptr);
  takes_over(&s.suspension);  // pairs with: try_resume
}

bool has_splittable_work(fiber& s) noexcept {
  return s.suspended_end != nullptr && has_open_work(s, s.suspended_end);
}

bool hold_suspended(fiber& s) noexcept {
  suspension_word seen = s.suspension.load(std::memory_order_acquire);
  if (seen.stage() != suspension_stage::suspended || !change(s, seen, suspension_stage::splitting))
    return false;
  takes_over(&s.suspension);  // pairs with: after_suspend
  return true;
}

bool let_go_suspended(fiber& s) noexcept {
  hands_over(&s.suspension);  // pairs with: suspend_running
  suspension_word seen = s.suspension.load(std::memory_order_acquire);
  if (seen.stage() == suspension_stage::splitting && change(s, seen, suspension_stage::suspended))
    return true;
  SUKIMA_ASSERT(seen.stage() == suspension_stage::splitting_and_resumed,
                "a held fiber was resumed or was not");
  s.suspension.store(suspension_word::make(seen.number(), suspension_stage::running),
                     std::memory_order_release);
  return false;
}

}  // namespace sukima::detail
