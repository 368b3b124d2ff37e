// SPDX-License-Identifier: Apache-2.0
// The shared state of a counting_scope and its work (execution.hpp).
#pragma once

#include <cstddef>
#include <exception>
#include <mutex>
#include <utility>

namespace sukima::execution::detail {

/// Counts work that has not ended. The end of the last work calls the waiter.
class scope_core {
 public:
  struct waiter {
    void (*ended)(waiter*) noexcept = nullptr;
  };
  scope_core() = default;
  scope_core(const scope_core&) = delete;
  scope_core& operator=(const scope_core&) = delete;
  ~scope_core() {
    if (open_ != 0) std::terminate();  // the work would end in a destroyed scope
  }

  void begin() {
    const std::lock_guard hold(lock_);
    ++open_;
  }
  /// The scope may be destroyed afterwards.
  void end(std::exception_ptr error) noexcept {
    waiter* waiting = nullptr;
    {
      const std::lock_guard hold(lock_);
      if (error && !error_) error_ = std::move(error);
      if (--open_ == 0) waiting = std::exchange(waiter_, nullptr);
    }
    if (waiting != nullptr) waiting->ended(waiting);
  }
  /// Calls w.ended when no work is open, perhaps at once.
  void wait(waiter& w) noexcept {
    {
      const std::lock_guard hold(lock_);
      if (open_ != 0) {
        waiter_ = &w;
        return;
      }
    }
    w.ended(&w);
  }
  bool is_open() noexcept {
    const std::lock_guard hold(lock_);
    return open_ != 0;
  }
  std::exception_ptr take_error() noexcept {
    const std::lock_guard hold(lock_);
    return std::exchange(error_, nullptr);
  }

 private:
  std::mutex lock_;  // protects the members below
  std::size_t open_ = 0;
  waiter* waiter_ = nullptr;
  std::exception_ptr error_;
};

struct scope_receiver {
  /// The receiver is notified only after the operation is destroyed with all that it holds, because the code
  /// that waits for the scope may destroy the objects that it refers to (P3149).
  using notified_after_destruction = void;
  scope_core* scope;
  template <class... Value> void set_value(Value&&...) noexcept { scope->end(nullptr); }
  void set_error(std::exception_ptr e) noexcept { scope->end(std::move(e)); }
  void set_stopped() noexcept { scope->end(nullptr); }
};

template <class Receiver> struct join_operation : scope_core::waiter {
  scope_core* scope;
  Receiver receiver;
  join_operation(scope_core* s, Receiver r)
      : waiter{[](waiter* self) noexcept {
          auto* const me = static_cast<join_operation*>(self);
          if (std::exception_ptr error = me->scope->take_error())
            me->receiver.set_error(std::move(error));
          else
            me->receiver.set_value();
        }},
        scope(s),
        receiver(std::move(r)) {}
  join_operation(const join_operation&) = delete;
  join_operation& operator=(const join_operation&) = delete;
  void start() noexcept { scope->wait(*this); }
  bool ends_at_once() noexcept {
    if (scope->is_open()) return false;
    ended(this);
    return true;
  }
};

}  // namespace sukima::execution::detail
