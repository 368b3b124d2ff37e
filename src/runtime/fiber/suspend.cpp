// SPDX-License-Identifier: Apache-2.0
// Suspending and resuming fibers. Protocol: suspend.hpp.
#include "fiber/suspend.hpp"

#include "core.hpp"

#include <sukima/suspend.hpp>

namespace sukima::detail {

namespace {

bool change(fiber& s, suspension_word& seen, suspension_stage to) noexcept {
  return s.suspension.compare_exchange_strong(seen, suspension_word::make(seen.number(), to),
                                              std::memory_order_acq_rel, std::memory_order_acquire);
}

/// `then` of a fiber that suspends.
void after_suspend(worker& w, fiber* from, void*) {
  stress_point();
  const bool leaves_work = has_splittable_work(*from);
  suspension_word seen = from->suspension.load(std::memory_order_acquire);
  if (seen.stage() == suspension_stage::suspending && change(*from, seen, suspension_stage::suspended)) {
    // From here on it may be resumed: only its address is used, and whoever takes it from the list tries a
    // CAS.
    if (leaves_work) {
      w.runtime->splittable.add(from);
      w.runtime->park.wake_sentinel();
    }
    return;
  }
  w.runtime->injector.push(from);  // it was resumed before the switch was complete
}

/// Waits in place: a thread-bound fiber keeps its thread.
void wait_in_place(fiber& s, std::uint64_t number) noexcept {
  worker& w = *s.on;
  for (;;) {
    const std::uint32_t seen = w.epoch.read();
    const suspension_word now = s.suspension.load(std::memory_order_acquire);
    if (now.number() == number && now.stage() == suspension_stage::running) return;
    w.epoch.wait(w.runtime->chosen.policy_at(wait_point::result), seen);
  }
}

}  // namespace

void suspend_running(char* top, void (*store)(void*, resumer), void* closure) {
  fiber* current = running_fiber();
  if (current == nullptr)
    throw usage_error("sukima: suspend was called outside of a runtime; only a worker's fiber can be parked");
  fiber& s = *current;
  const std::uint64_t number = s.suspension.load(std::memory_order_relaxed).number() + 1;
  s.suspension.store(suspension_word::make(number, suspension_stage::suspending), std::memory_order_release);
  s.suspended_end = s.thread_bindings != 0 ? nullptr : top != nullptr ? top : s.ambient->top;
  try {
    store(closure, resumer(&s, number));
  } catch (...) {
    s.suspension.store(suspension_word::make(number, suspension_stage::running), std::memory_order_release);
    throw;
  }
  ++s.on->statistics.suspensions;
  s.on->note(trace_kind::suspend);
  fiber* other = s.thread_bindings == 0 ? s.on->take_fiber() : nullptr;
  if (other == nullptr) {
    wait_in_place(s, number);
  } else {
    inject_published(s);
    switch_to(*s.on, &s, *other, after_suspend, nullptr);
  }
  look_for_abort(s);  // flags went to the workers meanwhile
  s.limit.request_poll();
}

unsigned* running_thread_bindings() noexcept {
  fiber* s = running_fiber();
  return s != nullptr ? &s->thread_bindings : nullptr;
}

void resume_fiber(fiber& s, std::uint64_t number) {
  const lifecycle::resuming here(s.runtime->life);
  suspension_word seen = s.suspension.load(std::memory_order_acquire);
  for (;;) {
    if (seen.number() != number || seen.stage() == suspension_stage::running ||
        seen.stage() == suspension_stage::splitting_and_resumed)
      throw usage_error("sukima: a suspension was resumed twice");
    // It may wait in place, thread-bound or for lack of another fiber: then only its epoch wakes it.
    worker* const on = s.on;
    const suspension_stage to = seen.stage() == suspension_stage::splitting
                                    ? suspension_stage::splitting_and_resumed
                                    : suspension_stage::running;
    const suspension_stage from = seen.stage();
    if (!change(s, seen, to)) continue;
    if (from == suspension_stage::suspended) s.runtime->injector.push(&s);
    if (from == suspension_stage::suspending) unpark(*on);
    return;
  }
}

bool has_splittable_work(const fiber& s) noexcept {
  if (s.suspended_end == nullptr) return false;
  const auto* end = reinterpret_cast<const choice_point*>(s.suspended_end);
  for (auto* r = reinterpret_cast<choice_point*>(s.oldest); r < end; r = above(r))
    if (kind_of(r)->open(r)) return true;
  return false;
}

bool hold_suspended(fiber& s) noexcept {
  suspension_word seen = s.suspension.load(std::memory_order_acquire);
  return seen.stage() == suspension_stage::suspended && change(s, seen, suspension_stage::splitting);
}

bool let_go_suspended(fiber& s) noexcept {
  suspension_word seen = s.suspension.load(std::memory_order_acquire);
  if (seen.stage() == suspension_stage::splitting && change(s, seen, suspension_stage::suspended))
    return true;
  s.suspension.store(suspension_word::make(seen.number(), suspension_stage::running),
                     std::memory_order_release);
  return false;
}

}  // namespace sukima::detail
