// SPDX-License-Identifier: Apache-2.0
// The state of a task_group_context of the TBB headers: whether its group is cancelled, and by which
// exception.
#pragma once

#include <sukima/detail/tbb/errors.hpp>

#include <atomic>
#include <cfenv>
#include <cstdint>
#include <exception>
#include <mutex>
#include <utility>

namespace sukima::detail::tbb {

/// A group of tasks that is cancelled together. It counts its references, because groups inside it refer to
/// it and may live longer.
class group_state {
 public:
  explicit group_state(bool bound) noexcept : free_to_bind_(bound) {}
  group_state(const group_state&) = delete;
  group_state& operator=(const group_state&) = delete;

  void hold() noexcept { holders_.fetch_add(1, std::memory_order_relaxed); }
  void let_go() noexcept {
    if (holders_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  /// Called at each use of a group. At its first use, a bound group is put permanently inside the group whose
  /// code uses it.
  void bind_to(group_state* around) noexcept {
    if (!free_to_bind_.load(std::memory_order_relaxed) ||
        !free_to_bind_.exchange(false, std::memory_order_relaxed) || around == nullptr || around == this)
      return;
    around->hold();
    around_.store(around, std::memory_order_release);
  }

  /// Whether it, or a group around it, is cancelled.
  bool is_cancelled() const noexcept {
    for (const group_state* g = this; g != nullptr; g = g->in_force_around())
      if (g->cancelled_.load(std::memory_order_relaxed)) return true;
    return false;
  }
  /// \returns false if it was cancelled already
  bool cancel() noexcept { return !is_cancelled() && !cancelled_.exchange(true, std::memory_order_relaxed); }

  /// Cancels the group because of the exception that is being handled. Keeps the first exception.
  void fail() noexcept {
    if (ends_at_exceptions.load(std::memory_order_relaxed)) std::terminate();
    {
      const std::lock_guard hold(lock_);
      if (!error_ && !is_cancelled()) error_ = std::current_exception();
    }
    cancelled_.store(true, std::memory_order_relaxed);
  }
  /// The exception that `fail` kept, if any.
  std::exception_ptr error() const noexcept {
    const std::lock_guard hold(lock_);
    return error_;
  }
  /// \throws the exception that `fail` kept
  void rethrow() const {
    if (!cancelled_.load(std::memory_order_relaxed)) return;
    if (std::exception_ptr found = error()) std::rethrow_exception(std::move(found));
  }
  /// \pre the group has no tasks
  void reset() noexcept {
    std::exception_ptr old;
    {
      const std::lock_guard hold(lock_);
      old = std::move(error_);
      error_ = nullptr;
    }
    cancelled_.store(false, std::memory_order_relaxed);
    // The group around it stays cancelled. That cancellation has ended the tasks of this group, and does not
    // affect later tasks.
    if (is_cancelled()) is_detached_.store(true, std::memory_order_relaxed);
  }

  /// From now on the tasks run with the caller's floating-point environment.
  void capture_floating_point() noexcept {
    std::fegetenv(&floating_point_);
    has_floating_point_ = true;
  }
  const std::fenv_t* floating_point() const noexcept {
    return has_floating_point_ ? &floating_point_ : nullptr;
  }

 private:
  /// The group around this one if its cancellation affects this one.
  const group_state* in_force_around() const noexcept {
    if (is_detached_.load(std::memory_order_relaxed)) return nullptr;
    return around_.load(std::memory_order_acquire);
  }
  ~group_state() {
    if (group_state* const around = around_.load(std::memory_order_relaxed)) around->let_go();
  }

  std::atomic<std::size_t> holders_{1};  ///< pairs with: let_go
  std::atomic<bool> free_to_bind_;  ///< no partner: only one call may see true
  std::atomic<bool> cancelled_{false};  ///< no partner: a hint to stop; joins order the rest
  std::atomic<bool> is_detached_{false};  ///< no partner: set while the group has no tasks
  std::atomic<group_state*> around_{nullptr};  ///< pairs with: bind_to, in_force_around
  mutable std::mutex lock_;  // protects error_
  std::exception_ptr error_;
  std::fenv_t floating_point_{};  ///< written before the group is used
  bool has_floating_point_ = false;
};

/// A reference to a group_state.
class group_handle {
 public:
  explicit group_handle(bool bound) : state_(new group_state(bound)) {}
  explicit group_handle(group_state& s) noexcept : state_(&s) { s.hold(); }
  group_handle(const group_handle&) = delete;
  group_handle& operator=(const group_handle&) = delete;
  ~group_handle() { state_->let_go(); }
  group_state& operator*() const noexcept { return *state_; }
  group_state* operator->() const noexcept { return state_; }

 private:
  group_state* state_;
};

}  // namespace sukima::detail::tbb
