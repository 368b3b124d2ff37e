// SPDX-License-Identifier: Apache-2.0
// Aborting: which tasks an exception or a cancellation reaches, and how forks are left by exceptions.
// Protocol: abort.hpp.
#include "cancel/abort.hpp"

#include <base/shared/assert.hpp>
#include "cancel/suspensions.hpp"
#include "fiber/fiber.hpp"
#include "fiber/sanitizer.hpp"
#include "join/join_parts.hpp"
#include "remote/node_events.hpp"
#include "stress.hpp"
#include "worker.hpp"

#include <sukima/cancel.hpp>
#include <sukima/detail/jump.hpp>

#include <cxxabi.h>

#include <typeinfo>

namespace sukima::detail {

namespace {

std::uintptr_t address_of(const void* r) noexcept { return reinterpret_cast<std::uintptr_t>(r); }

/// The word of an abort that reaches this choice point of the task's segment and younger ones.
/// pairs with: is_reached, is_concerned
atomic<std::uintptr_t>& abort_word(task& t, const choice_point* r) noexcept {
  return address_of(r) >= t.shield.load(std::memory_order_relaxed) ? t.shielded_abort_to : t.abort_to;
}

/// Whether the place was aborted where this task was split off, or an older one of the same segment. Aborts
/// below a shield that is below that place do not count. A task that was not split off at a place is reached
/// only by the words of its parents (group_core.hpp).
bool is_reached(const task& t) noexcept {
  if (t.parent == nullptr || t.owner_segment == all_ones) return false;
  const std::uintptr_t outside =
      t.shielded ? no_choice_point : t.parent->abort_to.load(std::memory_order_acquire);
  const std::uintptr_t inside = t.parent->shielded_abort_to.load(std::memory_order_acquire);
  // A call without a context is above all choice points of its segment.
  const std::uintptr_t origin = t.origin != nullptr ? address_of(t.origin) : no_choice_point - 1;
  return origin >= outside || origin >= inside;
}

bool has_shield(const task& t) noexcept {
  return t.shield.load(std::memory_order_relaxed) != no_choice_point;
}

}  // namespace

bool is_shielded(const fiber& s) noexcept { return s.running != nullptr && has_shield(*s.running); }

bool is_concerned(const fiber& s) noexcept {
  const task* const t = s.running;
  if (t == nullptr) return false;
  if (t->shielded_abort_to.load(std::memory_order_acquire) != no_choice_point) return true;
  if (has_shield(*t)) return false;
  return t->abort_to.load(std::memory_order_acquire) != no_choice_point || is_task_concerned(t);
}

bool is_task_concerned(const fiber& s) noexcept { return !is_shielded(s) && is_task_concerned(s.running); }

bool is_descendant_concerned(const task* t) noexcept {
  for (; t != nullptr; t = t->parent) {
    if (t->cancelled.load(std::memory_order_acquire)) return true;
    if (t->cancellation_masked.load(std::memory_order_acquire)) return false;
    if (is_reached(*t)) return true;
    if (t->shielded) return false;
  }
  return false;
}

bool must_leave(const fiber& s) noexcept { return std::uncaught_exceptions() == 0 && is_concerned(s); }

bool leaves_at_join(const fiber& s) noexcept {
  return std::uncaught_exceptions() == 0 && (s.failure != nullptr || is_concerned(s));
}

std::exception_ptr take_failure(fiber& s, const choice_point* r) noexcept {
  if (!s.failure || std::uncaught_exceptions() > 0) return nullptr;
  if (reinterpret_cast<const char*>(r) > s.oldest_ended_loop) return s.failure;
  s.oldest_ended_loop = all_ones;
  return std::exchange(s.failure, nullptr);
}

void look_for_abort(fiber& s) noexcept {
  s.abort_pending = is_concerned(s) || s.failure != nullptr;
  // The flag of the worker may have gone to another fiber, whose poll was requested instead of this one's.
  if (s.abort_pending) s.limit.request_poll();
}

void leave_if_aborted(fiber& s) {
  look_for_abort(s);
  if (!s.abort_pending || !must_leave(s)) return;
  s.on->count_abort();
  throw aborted{};
}

void lower_abort(task& t, const choice_point* r) noexcept {
  atomic<std::uintptr_t>& word = abort_word(t, r);  // pairs with: is_reached, is_concerned
  const std::uintptr_t mine = address_of(r);
  std::uintptr_t seen = word.load(std::memory_order_relaxed);
  while (mine < seen && !word.compare_exchange_weak(seen, mine, std::memory_order_acq_rel)) {
  }
}

void clear_abort(fiber& s, const choice_point* r) noexcept {
  std::uintptr_t mine = address_of(r);
  // pairs with: lower_abort
  abort_word(*s.running, r).compare_exchange_strong(mine, no_choice_point, std::memory_order_acq_rel);
}

bool raise_shield(char* top) noexcept {
  fiber& s = fiber_of(top);
  if (is_shielded(s)) return false;
  s.running->shield.store(address_of(top), std::memory_order_relaxed);
  look_for_abort(s);
  return true;
}

void lower_shield(char* top) noexcept {
  fiber& s = fiber_of(top);
  SUKIMA_ASSERT(s.running->shield.load(std::memory_order_relaxed) == address_of(top),
                "a shield is lowered in the segment in which it was raised");
  s.running->shield.store(no_choice_point, std::memory_order_relaxed);
  // All work above it has ended, and with it all that could have aborted it.
  s.running->shielded_abort_to.store(no_choice_point, std::memory_order_relaxed);
  look_for_abort(s);  // an abort that the shield held off takes effect at the next poll
  s.limit.request_poll();
}

void request_abort_checks(const abort_listeners& in) noexcept {
  for (worker& w : in.workers.all()) {
    stress_point();
    // Set first, then `current` is read.
    w.flags.fetch_or(flag_check_abort, std::memory_order_seq_cst);
    if (fiber* s = w.current.load(std::memory_order_seq_cst)) s->limit.request_poll();
  }
  in.suspensions.cancel_those_concerned();
  in.remote.abort_those_concerned();
}

void request_abort_checks(runtime_core& r) noexcept {
  join_parts& parts = parts_of<join_parts>(r);
  request_abort_checks(abort_listeners{r.workers, parts.suspensions, parts.remote});
}

void unmask(runtime_core& r, task& t) noexcept {
  if (!t.cancellation_masked.load(std::memory_order_relaxed) || std::uncaught_exceptions() > 0) return;
  t.cancellation_masked.store(false, std::memory_order_release);
  request_abort_checks(r);  // earlier checks found it masked
}

std::exception_ptr abandon(choice_point* point) {
  fiber& s = fiber_of(point);
  const choice_point_kind* kind = kind_of(point);
  std::exception_ptr error;
  for (task* t = stop_children(point); t != nullptr;) {
    task* older = t->older;
    if (!error) error = t->error;
    t->destroy(t);
    t = older;
  }
  if (kind->destroy != nullptr) kind->destroy(point);
  forget_children(point, kind);
  if (s.failure && reinterpret_cast<char*>(point) <= s.failed_at) {
    s.failure = nullptr;
    look_for_abort(s);
  }
  if (reinterpret_cast<char*>(point) <= s.oldest_ended_loop) s.oldest_ended_loop = all_ones;
  const std::type_info* type = abi::__cxa_current_exception_type();
  const bool own = type == nullptr || *type != typeid(aborted);
  // The owner's own exception came first in the sequential order; an abort from further out swallows the
  // child's. A failure of a callback that must leave further out does not: the child's goes before it.
  return own || is_concerned(s) ? nullptr : error;
}

void leave_by_exception(choice_point* r) {
  if (std::exception_ptr instead = abandon(r)) std::rethrow_exception(instead);
  throw;
}

void open_scope(cancel_state& s, choice_point* scope) noexcept {
  s.owner = &fiber_of(scope);
  s.running = s.owner->running;
  s.scope = scope;
}

void cancel_scope(cancel_state& s) noexcept {
  auto expected = cancel_state::stage::open;
  if (!s.now.compare_exchange_strong(expected, cancel_state::stage::cancelling, std::memory_order_seq_cst))
    return;
  hands_over(&s);  // pairs with: close_scope
  stress_point();
  lower_abort(*s.running, s.scope);
  request_abort_checks(*s.owner->runtime);
  s.now.store(cancel_state::stage::cancelled, std::memory_order_seq_cst);
}

bool close_scope(cancel_state& s) noexcept {
  auto expected = cancel_state::stage::open;
  if (s.now.compare_exchange_strong(expected, cancel_state::stage::closed, std::memory_order_seq_cst))
    return false;
  while (s.now.load(std::memory_order_seq_cst) == cancel_state::stage::cancelling) std::this_thread::yield();
  takes_over(&s);  // pairs with: cancel_scope
  fiber& owner = *s.owner;
  SUKIMA_ASSERT(owner.running == s.running, "a scope is closed in the segment in which it was opened");
  clear_abort(owner, s.scope);
  look_for_abort(owner);
  owner.limit.request_poll();
  return true;
}

/// A pending failure of a callback is not an abort. The failure of a choice point outside the scope leaves by
/// the next join; a failure from inside belongs to the cancelled work.
bool abort_ends_here(cancel_state& s) noexcept {
  if (!close_scope(s)) return false;
  fiber& owner = *s.owner;
  if (owner.failure && reinterpret_cast<char*>(s.scope) <= owner.failed_at) {
    owner.failure = nullptr;
    look_for_abort(owner);
  }
  return !is_concerned(owner);
}

}  // namespace sukima::detail
