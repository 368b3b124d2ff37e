// SPDX-License-Identifier: Apache-2.0
// Waits for futures of any kind: the cell's list of waiters, and fibers that wait. Protocol: future.hpp.
#include "fiber/sanitizer.hpp"
#include "future/future.hpp"
#include "stress.hpp"

#include <sukima/cancel.hpp>
#include <sukima/suspend.hpp>

#include <chrono>

namespace sukima::detail {

void future_cell::end_with_waiters(future_end how) noexcept {
  hands_over(&state_);  // partner: how(), in the program
  std::uintptr_t seen = state_.load(std::memory_order_acquire);
  for (;;) {
    if ((seen & done) != 0) return;
    if ((seen & locked) != 0) {
      yield();
      seen = state_.load(std::memory_order_acquire);
      continue;
    }
    stress_point();
    if (state_.compare_exchange_weak(seen, static_cast<std::uintptr_t>(how), std::memory_order_acq_rel,
                                     std::memory_order_acquire))
      break;
  }
  auto* waiter = reinterpret_cast<future_waiter*>(seen);
  while (waiter != nullptr) {
    future_waiter* const next = waiter->next;  // in a frame that may end once its fiber or thread continues
    waiter->ended(*waiter);
    waiter = next;
  }
}

void future_waiting::end(future_cell& cell, future_end how) noexcept {
  hands_over(&cell.state_);  // partner: future_cell::how, in the program
  cell.end(how);
}

future_end future_waiting::how(const future_cell& cell) noexcept {
  const future_end found = cell.how();
  takes_over(&cell.state_);  // partner: end, here or in the program
  return found;
}

bool future_waiting::add(future_cell& cell, future_waiter& waiter) noexcept {
  std::uintptr_t seen = cell.state_.load(std::memory_order_acquire);
  for (;;) {
    if ((seen & future_cell::done) != 0) return false;
    if ((seen & future_cell::locked) != 0) {
      yield();
      seen = cell.state_.load(std::memory_order_acquire);
      continue;
    }
    waiter.next = reinterpret_cast<future_waiter*>(seen);
    stress_point();
    if (cell.state_.compare_exchange_weak(seen, reinterpret_cast<std::uintptr_t>(&waiter),
                                          std::memory_order_acq_rel, std::memory_order_acquire))
      return true;
  }
}

bool future_waiting::remove(future_cell& cell, future_waiter& waiter) noexcept {
  std::uintptr_t seen = cell.state_.load(std::memory_order_acquire);
  for (;;) {
    if ((seen & future_cell::done) != 0) return false;
    if ((seen & future_cell::locked) != 0) {
      yield();
      seen = cell.state_.load(std::memory_order_acquire);
      continue;
    }
    stress_point();
    if (cell.state_.compare_exchange_weak(seen, seen | future_cell::locked, std::memory_order_acq_rel,
                                          std::memory_order_acquire))
      break;
  }
  auto* first = reinterpret_cast<future_waiter*>(seen);
  future_waiter** place = &first;
  while (*place != nullptr && *place != &waiter) place = &(*place)->next;
  const bool found = *place != nullptr;  // otherwise another removal was first
  if (found) *place = waiter.next;
  cell.state_.store(reinterpret_cast<std::uintptr_t>(first), std::memory_order_release);
  return found;
}

void future_waiting::claim(future_cell& cell, const choice_point* point) noexcept {
  if (!gate_of(point).ends_plainly || cell.is_done()) return;
  // A task ends its future by a CAS, and only that task computes it.
  const std::uintptr_t runs_as = cell.runs_as.load(std::memory_order_relaxed);
  if (runs_as != 0 && (runs_as & future_cell::in_place) == 0) return;
  cell.claimed_.store(true, std::memory_order_relaxed);
  stress_point();
  heavy_fence();
  while (cell.ending_.load(std::memory_order_relaxed) && !cell.is_done()) yield();
}

namespace {

/// A waiting fiber. The object is in the fiber's own frame.
struct waiting_fiber : future_waiter {
  future_cell& cell;
  resumer resume;
  explicit waiting_fiber(future_cell& of) noexcept : cell(of) {
    ended = [](future_waiter& w) noexcept { static_cast<waiting_fiber&>(w).resume.resume(); };
  }
  /// Ends the wait before the future has ended.
  void give_up() noexcept {
    if (future_waiting::remove(cell, *this)) resume.resume();
  }
};

/// The moment at which a fiber gives up.
struct moment : alarm {
  waiting_fiber& of;
  explicit moment(waiting_fiber& w, std::chrono::steady_clock::time_point when) noexcept
      : alarm{when, [](alarm& a) noexcept { static_cast<moment&>(a).of.give_up(); }}, of(w) {}
};

}  // namespace

bool wait_for_end(char* top, future_cell& cell, std::chrono::steady_clock::time_point until) {
  waiting_fiber me(cell);
  moment last(me, until);
  const bool has_end = until != std::chrono::steady_clock::time_point::max();
  auto store = [&](resumer r) {
    me.resume = r;
    if (has_end) start_clock();
    if (!future_waiting::add(cell, me))
      r.resume();
    else if (has_end)
      start_alarm(last);
  };
  auto cancel = [&](resumer) noexcept { me.give_up(); };
  const cancel_action action{
      [](void* closure, resumer r) noexcept { (*static_cast<decltype(cancel)*>(closure))(r); }, &cancel};
  struct stops {
    moment* alarm;
    ~stops() {
      if (alarm != nullptr) stop_alarm(*alarm);
    }
  } const at_end{has_end ? &last : nullptr};
  suspend_running(
      top, [](void* closure, resumer r) { (*static_cast<decltype(store)*>(closure))(r); }, &store, &action);
  return cell.is_done();
}

}  // namespace sukima::detail
