// SPDX-License-Identifier: Apache-2.0
// Aborting: which tasks an exception or a cancellation concerns, and leaving forks by exceptions. Protocol:
// abort.hpp.
#include "cancel/abort.hpp"

#include "core.hpp"
#include "fiber/sanitizer.hpp"

#include <sukima/cancel.hpp>
#include <sukima/detail/jump.hpp>

#include <cxxabi.h>

#include <typeinfo>

namespace sukima::detail {

namespace {

const char* shield_of(const fiber& s) noexcept { return s.shield.load(std::memory_order_relaxed); }

/// The word of an abort that reaches this choice point and younger ones.
atomic<char*>& abort_word(fiber& s, const char* r) noexcept {
  return r >= shield_of(s) ? s.shielded_abort_to : s.abort_to;
}

/// Was the place aborted where this task was split off from its owner? Not by what is below a shield that is
/// below that place. An abort below the owner's segment of that time concerns it only if an ancestor says so:
/// a task that a waiting fiber runs on top may be masked.
bool is_reached(const task& t, const fiber& owner) noexcept {
  const char* const outside = owner.abort_to.load(std::memory_order_acquire);
  const char* const inside = owner.shielded_abort_to.load(std::memory_order_acquire);
  const char* const shield = owner.lowest_shield.load(std::memory_order_relaxed);
  if (t.origin == nullptr)
    return (outside != all_ones && outside >= t.owner_segment && (!t.shielded || outside >= shield)) ||
           (inside != all_ones && inside >= t.owner_segment);
  const char* const origin = reinterpret_cast<const char*>(t.origin);
  return (origin >= outside && outside >= t.owner_segment && (origin < shield || outside >= shield)) ||
         (origin >= inside && inside >= t.owner_segment);
}

}  // namespace

bool is_shielded(const fiber& s) noexcept {
  const char* const shield = shield_of(s);
  return shield != all_ones && shield >= s.segment;
}

bool is_concerned(const fiber& s) noexcept {
  // An abort below the running segment concerns it only if one of its ancestors says so.
  const char* const shield = shield_of(s);
  const auto reaches = [&](const atomic<char*>& word, const char* above) {
    const char* own = word.load(std::memory_order_acquire);
    return own != all_ones && own >= s.segment && own >= above;
  };
  if (reaches(s.abort_to, shield != all_ones ? shield : nullptr)) return true;
  return (shield != all_ones && reaches(s.shielded_abort_to, nullptr)) || is_task_concerned(s);
}

bool is_task_concerned(const fiber& s) noexcept { return !is_shielded(s) && is_task_concerned(s.running); }

bool is_descendant_concerned(const task* t) noexcept {
  for (; t != nullptr; t = t->parent) {
    if (t->cancelled.load(std::memory_order_acquire)) return true;
    if (t->cancellation_masked.load(std::memory_order_acquire)) return false;  // partner: unmask
    if (t->owner != nullptr && is_reached(*t, *t->owner)) return true;
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
  if (reinterpret_cast<const char*>(r) > s.taken_up_to) return s.failure;
  s.taken_up_to = all_ones;
  return std::exchange(s.failure, nullptr);
}

void look_for_abort(fiber& s) noexcept {
  s.abort_pending = is_concerned(s) || s.failure != nullptr;
  // The flag of the worker may have gone to another fiber, which was told to poll in the place of this one.
  if (s.abort_pending) s.limit.request_poll();
}

void lower_abort(fiber& s, char* r) noexcept {
  atomic<char*>& word = abort_word(s, r);
  char* seen = word.load(std::memory_order_relaxed);
  while (r < seen && !word.compare_exchange_weak(seen, r, std::memory_order_acq_rel)) {
  }
}

void clear_abort(fiber& s, choice_point* r) noexcept {
  // In both words: it was written into the other one if another shield was raised then.
  for (atomic<char*>* const word : {&s.abort_to, &s.shielded_abort_to}) {
    char* mine = reinterpret_cast<char*>(r);
    word->compare_exchange_strong(mine, all_ones, std::memory_order_acq_rel);  // partner: lower_abort
  }
}

outer_shield raise_shield(char* top) noexcept {
  fiber& s = fiber_of(top);
  if (is_shielded(s)) return {};
  // A shield of an outer segment: what is above it and below this one does not concern this segment.
  const outer_shield outer{true, s.shield.load(std::memory_order_relaxed),
                           s.shielded_abort_to.exchange(all_ones, std::memory_order_acq_rel)};
  s.shield.store(top, std::memory_order_relaxed);
  if (outer.place == all_ones) s.lowest_shield.store(top, std::memory_order_relaxed);
  look_for_abort(s);
  return outer;
}

void lower_shield(char* top, const outer_shield& outer) noexcept {
  fiber& s = fiber_of(top);
  s.shield.store(outer.place, std::memory_order_relaxed);
  if (outer.place == all_ones) s.lowest_shield.store(all_ones, std::memory_order_relaxed);
  // What is above this shield is over. What is below it was written by a canceller that had read the outer
  // shield; partner: lower_abort.
  char* seen = s.shielded_abort_to.load(std::memory_order_relaxed);
  while (!s.shielded_abort_to.compare_exchange_weak(
      seen, std::min(seen < top ? seen : all_ones, outer.abort_to), std::memory_order_acq_rel)) {
  }
  look_for_abort(s);  // what came meanwhile takes effect at the next poll
  s.limit.request_poll();
}

void request_abort_checks(runtime_core& r) noexcept {
  for (worker& w : r.workers.all()) {
    stress_point();
    w.flags.fetch_or(flag_check_abort);  // then `current` is read: partner arrive() in switch.cpp
    if (fiber* s = w.current.load()) s->limit.request_poll();
  }
  r.suspensions.cancel_those_concerned();
  r.remote.abort_those_concerned();
}

void unmask(runtime_core& r, task& t) noexcept {
  if (!t.cancellation_masked.load(std::memory_order_relaxed) || std::uncaught_exceptions() > 0) return;
  t.cancellation_masked.store(false, std::memory_order_release);  // partner: is_task_concerned
  request_abort_checks(r);  // who looked before found it masked
}

std::exception_ptr abandon(choice_point* r) {
  fiber& s = fiber_of(r);
  const choice_point_kind* kind = kind_of(r);
  std::exception_ptr error;
  for (task* t = stop_children(r); t != nullptr;) {
    task* older = t->older;
    if (!error) error = t->error;
    t->destroy(t);
    t = older;
  }
  if (kind->destroy != nullptr) kind->destroy(r);
  forget_children(r, kind);
  if (s.failure && reinterpret_cast<char*>(r) <= s.failed_at) {
    s.failure = nullptr;
    look_for_abort(s);
  }
  if (reinterpret_cast<char*>(r) <= s.taken_up_to) s.taken_up_to = all_ones;
  const std::type_info* type = abi::__cxa_current_exception_type();
  const bool own = type == nullptr || *type != typeid(aborted);
  // The owner's own exception came first in the sequential order; an abort from further out swallows the
  // child's. A failure of a callback that is to leave further out is none: the child's goes before it.
  return own || is_concerned(s) ? nullptr : error;
}

void leave_by_exception(choice_point* r) {
  if (std::exception_ptr instead = abandon(r)) std::rethrow_exception(instead);
  throw;
}

void open_scope(cancel_state& s, choice_point* scope) noexcept {
  s.owner = &fiber_of(scope);
  s.scope = scope;
}

void cancel_scope(cancel_state& s) noexcept {
  auto expected = cancel_state::stage::open;
  if (!s.now.compare_exchange_strong(expected, cancel_state::stage::cancelling)) return;
  hands_over(&s);  // partner: close_scope
  stress_point();
  lower_abort(*s.owner, reinterpret_cast<char*>(s.scope));
  request_abort_checks(*s.owner->runtime);
  s.now.store(cancel_state::stage::cancelled);  // partner: close_scope
}

bool close_scope(cancel_state& s) noexcept {
  auto expected = cancel_state::stage::open;
  if (s.now.compare_exchange_strong(expected, cancel_state::stage::closed)) return false;
  while (s.now.load() == cancel_state::stage::cancelling) std::this_thread::yield();
  takes_over(&s);  // partner: cancel_scope
  fiber& owner = *s.owner;
  clear_abort(owner, s.scope);
  look_for_abort(owner);
  owner.limit.request_poll();
  return true;
}

/// A pending failure of a callback is no abort: that of a choice point outside of the scope leaves by the
/// next join. One from inside belongs to what was cancelled.
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
