// SPDX-License-Identifier: Apache-2.0
// Executors of bound fibers. Protocol: sukima/detail/executor.hpp.
#include <sukima/detail/executor.hpp>

#include <base/shared/assert.hpp>
#include "cancel/abort.hpp"
#include "constants.hpp"
#include "fiber/fiber.hpp"
#include "fiber/sanitizer.hpp"
#include "fiber/suspend.hpp"
#include "fiber/switch.hpp"
#include "join/give_away.hpp"
#include "park/call_home.hpp"
#include "park/compensation.hpp"
#include "park/park.hpp"
#include "shared/discard_fiber.hpp"
#include "steal/injector.hpp"
#include "steal/request.hpp"
#include "steal/steal.hpp"
#include "steal/steal_parts.hpp"
#include "stress.hpp"
#include "worker.hpp"

#include <sukima/detail/ticks.hpp>

#include <string>
#include <utility>

namespace sukima::detail {

/// Runs after the switch away from a fiber whose executor has no ready fiber.
struct executor::departure {
  executor* home;
  after then;
  void* argument;
};

fiber* executor::free_mark() noexcept { return reinterpret_cast<fiber*>(std::uintptr_t{1}); }

fiber& executor::make_fiber(bound_task& first, std::size_t stack) {
  steal_parts& core = parts_of<steal_parts>(core_);
  fiber* const s = stack <= core.bound_fibers.stack_size() ? core.bound_fibers.take() : core.fibers.take();
  if (s == nullptr) throw no_fiber();
  make_fresh(*s);
  s->first = &first;
  s->home = this;
  s->label = &first.label;
  s->switches_shortly = s->small && can_switch_within();
  ++living_;
  return *s;
}

void discard_fiber(fiber& fresh) noexcept { fresh.pool->give(&fresh); }

void executor::post(fiber& resumed) noexcept {
  hands_over(this);  // pairs with: collect
  // Once the fiber is in the inbox, it may run and end, and the executor with it. So nothing is read after
  // that.
  const runs_on where = where_;
  steal_parts& core = parts_of<steal_parts>(core_);
  fiber* seen = inbox_.load(std::memory_order_seq_cst);
  for (;;) {
    stress_point();
    const bool is_free = seen == free_mark();
    worker* const sleeper = is_free && where == runs_on::thread ? server_on_ : nullptr;
    resumed.next = is_free ? nullptr : seen;
    fiber* const wanted = is_free && where == runs_on::workers ? nullptr : &resumed;
    if (!inbox_.compare_exchange_weak(seen, wanted, std::memory_order_seq_cst)) continue;
    // If the fiber is queued, it takes the token along. If a thread is woken, it uses its own.
    if (is_free && where == runs_on::workers) core.injector.push(&resumed);
    if (sleeper != nullptr) unpark(*sleeper);
    return;
  }
}

void executor::make_ready(fiber& s) noexcept {
  SUKIMA_ASSERT(s.home == this, "an executor runs the fibers that are bound to it");
  s.next = nullptr;
  (last_ready_ != nullptr ? last_ready_->next : first_ready_) = &s;
  last_ready_ = &s;
}

std::vector<fiber*> executor::ready_fibers() const {
  std::vector<fiber*> all;
  for (fiber* s = first_ready_; s != nullptr; s = s->next) all.push_back(s);
  return all;
}

void executor::give(std::span<fiber* const> moved, executor& to) noexcept {
  for (fiber* const s : moved) {
    SUKIMA_ASSERT(s->home == this, "a fiber is moved by the executor that it is bound to");
    s->home = &to;
  }
  living_ -= moved.size();
  to.living_ += moved.size();
  fiber* next = std::exchange(first_ready_, nullptr);
  last_ready_ = nullptr;
  while (next != nullptr) {
    fiber* const s = std::exchange(next, next->next);
    s->home->make_ready(*s);
  }
}

void executor::collect() noexcept {
  if (inbox_.load(std::memory_order_relaxed) == nullptr) return;
  fiber* newest = inbox_.exchange(nullptr, std::memory_order_seq_cst);
  takes_over(this);  // pairs with: post
  fiber* oldest = nullptr;
  while (newest != nullptr && newest != free_mark()) {
    fiber* const before = std::exchange(newest->next, oldest);
    oldest = std::exchange(newest, before);
  }
  while (oldest != nullptr) {
    fiber* const s = std::exchange(oldest, oldest->next);
    make_ready(*s);
  }
}

fiber* executor::take_ready() noexcept {
  if (first_ready_ == nullptr) collect();
  fiber* const s = first_ready_;
  if (s == nullptr) return nullptr;
  first_ready_ = s->next;
  if (first_ready_ == nullptr) last_ready_ = nullptr;
  return s;
}

void executor::look_around(const fiber& s) noexcept {
  if (first_ready_ != nullptr) return;
  steal_parts& core = parts_of<steal_parts>(core_);
  const suspension_word begun = s.suspension.load(std::memory_order_relaxed);
  const std::uint64_t since = ticks();
  do {
    collect();
    if (first_ready_ != nullptr || s.suspension.load(std::memory_order_acquire).bits != begun.bits) return;
  } while (core.injector.is_empty() && !detail::is_called_home(*s.on) &&
           core.park.spins(wait_point::idle, since));
}

/// Nothing of this executor runs: gives the token to the next ready fiber, or frees it.
void executor::release() noexcept {
  for (;;) {
    if (fiber* const next = take_ready()) {
      hands_over(this);
      parts_of<steal_parts>(core_).injector.push(next);
      return;
    }
    stress_point();
    hands_over(this);
    fiber* empty = nullptr;
    if (inbox_.compare_exchange_strong(empty, free_mark(), std::memory_order_seq_cst)) return;
  }
}

/// Runs on the stack that was switched to. The departure is stored on the stack that was left. The fiber of
/// that stack may run as soon as `then` has made it available and the token is released.
void executor::depart(worker& w, fiber* from, void* argument) {
  const departure d = *static_cast<departure*>(argument);
  if (d.then != nullptr) d.then(w, from, d.argument);
  d.home->release();
}

void executor::leave_for(fiber& s, fiber& other, after then, void* argument) {
  departure d{this, then, argument};
  switch_to(*s.on, s, other, depart, &d);
}

void executor::leave_for_home(fiber& s, after then, void* argument) {
  departure d{this, then, argument};
  switch_home(*s.on, s, depart, &d);
}

bool executor::leave(fiber& s, after then, void* argument) {
  worker& w = *s.on;
  fiber* const next = take_ready();
  if (next != nullptr) {
    switch_to(w, s, *next, then, argument);
  } else if (where_ == runs_on::thread) {
    switch_to(w, s, *server_, then, argument);
  } else {
    fiber* const other = w.take_fiber();
    if (other == nullptr) return false;
    leave_for(s, *other, then, argument);
  }
  takes_over(this);  // pairs with: post, release
  return true;
}

namespace {

/// The name of a bound fiber in messages.
std::string name_of(const fiber& s) {
  if (s.label == nullptr || s.label->name == nullptr) return "a bound fiber";
  return std::string(s.label->kind) + " " + s.label->name;
}

/// Gives away the work of a fiber that is about to stop. Without a choice point it has none.
void give_away_pending(fiber& s) noexcept {
  inject_published(s);
  s.suspended_end = s.ambient->top;
  if (has_splittable_work(s))
    give_work_away(s, reinterpret_cast<choice_point*>(s.suspended_end), tuning::max_tasks_given_by_blocking,
                   queue_end::back);
  s.suspended_end = nullptr;
}

}  // namespace

void executor::park() {
  fiber& s = *running_fiber();
  if (s.thread_bindings != 0)
    throw usage_error("sukima: " + name_of(s) +
                      " waits inside thread_bound for others that take turns with it; let it wait outside");
  if (s.ambient->top != s.base) give_away_pending(s);
  if (where_ == runs_on::workers && first_ready_ == nullptr) look_around(s);
  if (!leave(s, nullptr, nullptr)) throw no_fiber();
  look_for_abort(s);  // flags were sent to the workers during the wait
  if (!s.small) s.limit.request_poll();
}

bool executor::park_shortly(fiber& s) noexcept {
  SUKIMA_ASSERT(running_fiber() == &s, "a fiber parks itself");
  fiber* const next = first_ready_;
  // Without a choice point it has no work to give away, and only an abort of its task affects it.
  if (next == nullptr || !next->switches_shortly || !s.switches_shortly || s.ambient->top != s.base ||
      s.thread_bindings != 0)
    return false;
  first_ready_ = next->next;
  if (first_ready_ == nullptr) last_ready_ = nullptr;
  return switch_within(s, *next);
}

void executor::take_turns() {
  collect();
  fiber& s = *running_fiber();
  if (first_ready_ == nullptr || s.thread_bindings != 0) return;  // park() would refuse it
  make_ready(s);
  park();
}

void executor::hand_over() {
  fiber& s = *running_fiber();
  if (s.thread_bindings != 0) return;  // it would continue elsewhere
  worker& w = *s.on;
  if (detail::is_called_home(w)) {
    detail::hand_over(s);
    return;
  }
  // Not home: the thread of an entry would leave.
  fiber* const other = w.take_fiber();
  if (other == nullptr) return;
  inject_published(s);
  switch_to(
      w, s, *other, [](worker& left, fiber* from, void*) { parts_of<steal_parts>(left).injector.push(from); },
      nullptr);
  look_for_abort(s);  // flags were sent to the workers during the wait
  if (!s.small) s.limit.request_poll();
}

bool executor::is_called_home() const noexcept {
  const fiber& s = *running_fiber();
  return where_ == runs_on::workers && s.thread_bindings == 0 && detail::is_called_home(*s.on);
}

bool executor::others_wait() const noexcept {
  return where_ == runs_on::workers && !parts_of<steal_parts>(core_).injector.is_empty();
}

/// The rest of end() if there is no memory for another fiber: the worker waits on the stack of the fiber that
/// has ended. Other fibers may rely on the executor's token and on the task's end, so both come first.
void executor::end_without_fiber(worker& w, fiber& s, bound_task& t) {
  steal_parts& core = parts_of<steal_parts>(core_);
  s.home = nullptr;
  s.label = nullptr;
  release();
  if (t.ended != nullptr) t.ended(&t);  // this executor may be gone afterwards
  close_mailbox(w);
  fiber* next = nullptr;
  const auto goes_home = [&] { return detail::is_called_home(w) || (w.background && core.life.is_closed()); };
  while (!goes_home() && (next = core.injector.take_runnable()) == nullptr &&
         (next = w.take_fiber()) == nullptr) {
    core.life.exit_if_orphaned();
    yield();
  }
  open_mailbox(w);
  if (next != nullptr)
    switch_to(w, s, *next, recycle, nullptr);
  else
    switch_home(w, s, recycle, nullptr);
  __builtin_unreachable();
}

void executor::retire(worker& w, fiber* from, void* argument) {
  executor* const home = from->home;
  from->has_ended = false;
  forget_sanitizer_state(*from);
  trim(*from);
  w.give_fiber(from);
  auto* const t = static_cast<bound_task*>(argument);
  // Another fiber, or the thread, has taken the token already.
  if (home->where_ == runs_on::workers && w.current.load(std::memory_order_relaxed)->home != home)
    home->release();
  if (t->ended != nullptr) t->ended(t);
}

void executor::end(fiber& s, bound_task& t) {
  worker& w = *s.on;
  --living_;
  fiber* next = take_ready();
  if (next == nullptr) next = where_ == runs_on::thread ? server_ : w.take_fiber();
  if (next == nullptr) end_without_fiber(w, s, t);
  s.has_ended = true;
  switch_to(w, s, *next, retire, &t);
  __builtin_unreachable();
}

void executor::serve() {
  fiber& s = *running_fiber();
  ++s.thread_bindings;
  server_ = &s;
  server_on_ = s.on;
  worker& w = *s.on;
  parts_of<steal_parts>(core_).blocking.begin_serving();
  stress_point();
  while (living_ != 0) {
    look_around(s);
    if (fiber* const next = take_ready()) {
      switch_to(w, s, *next, nullptr, nullptr);
      continue;
    }
    fiber* empty = nullptr;
    if (!inbox_.compare_exchange_strong(empty, free_mark(), std::memory_order_seq_cst)) continue;
    w.enter_state(worker_state::sleeping);
    close_mailbox(w);
    for (;;) {
      const std::uint32_t seen = w.epoch.read();
      if (inbox_.load(std::memory_order_seq_cst) != free_mark()) break;
      core_.life.exit_if_orphaned();
      w.epoch.wait(core_.chosen.policy_at(wait_point::idle), seen);
    }
    open_mailbox(w);
    w.enter_state(worker_state::working);
  }
  --s.thread_bindings;
}

executor* running_executor() noexcept {
  const fiber* const s = running_fiber();
  return s != nullptr ? s->home : nullptr;
}

runtime_core* running_runtime() noexcept {
  const fiber* const s = running_fiber();
  return s != nullptr ? s->runtime : nullptr;
}

bool has_idle_worker(const runtime_core& core) noexcept {
  return parts_of<steal_parts>(core).park.has_idle_workers();
}

task* running_bound_task() noexcept {
  const fiber* const s = running_fiber();
  return s != nullptr && s->home != nullptr ? s->running : nullptr;
}

fiber* this_fiber_now() noexcept { return running_fiber(); }

const ambient_state* ambient_of_fiber(const fiber& s) noexcept { return s.ambient; }

void leave_if_cancelled(fiber& s) {
  if (!s.abort_pending || !must_leave(s)) return;
  s.on->count_abort();
  throw aborted{};
}

void announce_cancellation(runtime_core& core) noexcept { request_abort_checks(core); }

void make_runnable(fiber& s) noexcept {
  if (s.home != nullptr)
    s.home->post(s);
  else
    parts_of<steal_parts>(s).injector.push(&s);
}

}  // namespace sukima::detail
