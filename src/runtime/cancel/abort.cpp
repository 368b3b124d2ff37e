// SPDX-License-Identifier: Apache-2.0
// Aborting: which tasks an exception or a cancellation concerns, and leaving forks by exceptions. Protocol:
// abort.hpp.
#include "cancel/abort.hpp"

#include "core.hpp"

#include <sukima/cancel.hpp>
#include <sukima/detail/jump.hpp>

#include <cxxabi.h>

#include <typeinfo>

namespace sukima::detail {

bool is_concerned(const fiber& s) noexcept {
  // An abort below the running segment concerns it only if one of its ancestors says so.
  const char* own = s.abort_to.load(std::memory_order_acquire);
  return (own != all_ones && own >= s.segment) || is_task_concerned(s);
}

bool is_task_concerned(const fiber& s) noexcept {
  for (const task* t = s.running; t != nullptr; t = t->parent) {
    if (t->cancelled.load(std::memory_order_acquire)) return true;
    if (t->cancellation_masked) return false;
    if (t->owner != nullptr) {
      const char* from = t->owner->abort_to.load(std::memory_order_acquire);
      if (t->origin != nullptr ? reinterpret_cast<char*>(t->origin) >= from
                               : from != all_ones && from >= t->owner_segment)
        return true;
    }
  }
  return false;
}

bool must_leave(const fiber& s) noexcept { return std::uncaught_exceptions() == 0 && is_concerned(s); }

void look_for_abort(fiber& s) noexcept { s.abort_pending = is_concerned(s) || s.failure != nullptr; }

void lower_abort(fiber& s, char* r) noexcept {
  char* seen = s.abort_to.load(std::memory_order_relaxed);
  while (r < seen && !s.abort_to.compare_exchange_weak(seen, r, std::memory_order_acq_rel)) {
  }
}

void clear_abort(fiber& s, choice_point* r) noexcept {
  char* mine = reinterpret_cast<char*>(r);
  s.abort_to.compare_exchange_strong(mine, all_ones, std::memory_order_acq_rel);
}

void request_abort_checks(runtime_core& r) noexcept {
  for (worker& w : r.workers.all()) {
    stress_point();
    w.flags.fetch_or(flag_check_abort);  // then `current` is read: partner arrive() in switch.cpp
    if (fiber* s = w.current.load()) s->limit.request_poll();
  }
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
  const std::type_info* type = abi::__cxa_current_exception_type();
  const bool own = type == nullptr || *type != typeid(aborted);
  // The owner's own exception came first in the sequential order; an abort from further out swallows the
  // child's.
  return own || s.abort_pending ? nullptr : error;
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
  stress_point();
  lower_abort(*s.owner, reinterpret_cast<char*>(s.scope));
  request_abort_checks(*s.owner->runtime);
  s.now.store(cancel_state::stage::cancelled);  // partner: close_scope
}

bool close_scope(cancel_state& s) noexcept {
  auto expected = cancel_state::stage::open;
  if (s.now.compare_exchange_strong(expected, cancel_state::stage::closed)) return false;
  while (s.now.load() == cancel_state::stage::cancelling) std::this_thread::yield();
  fiber& owner = *s.owner;
  clear_abort(owner, s.scope);
  look_for_abort(owner);
  owner.limit.request_poll();
  return true;
}

bool abort_ends_here(cancel_state& s) noexcept { return close_scope(s) && !s.owner->abort_pending; }

}  // namespace sukima::detail
