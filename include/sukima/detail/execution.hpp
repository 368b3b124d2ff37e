// SPDX-License-Identifier: Apache-2.0
// The parts of senders, futures and coroutines (execution.hpp).
#pragma once

#include <sukima/errors.hpp>
#include <sukima/runtime.hpp>
#include <sukima/suspend.hpp>

#include <atomic>
#include <condition_variable>
#include <coroutine>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace sukima::execution::detail {

template <class F, class Value> struct result_for {
  using type = std::invoke_result_t<F&, Value>;
};
template <class F> struct result_for<F, void> {
  using type = std::invoke_result_t<F&>;
};

template <class F> struct then_closure {
  F f;
};

/// Calls f and reports the outcome to the receiver. The receiver, and the objects that f refers to, may be
/// destroyed afterwards.
template <class Receiver, class F> void complete(Receiver& receiver, F&& f) noexcept {
  std::exception_ptr error;
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<F&>>) {
      f();
      receiver.set_value();
    } else {
      receiver.set_value(f());
    }
    return;
  } catch (const aborted&) {
  } catch (...) {
    error = std::current_exception();
  }
  // Outside the handler, the receiver's reference is the only one, so the exception is destroyed with it.
  if (error)
    receiver.set_error(std::move(error));
  else
    receiver.set_stopped();
}

/// The outcome of an operation: none yet, a value, an error, or cancelled.
template <class T> class outcome {
 public:
  using value_type = std::conditional_t<std::is_void_v<T>, std::monostate, T>;
  template <class... Value> void set_value(Value&&... value) {
    state_.template emplace<1>(std::forward<Value>(value)...);
  }
  void set_error(std::exception_ptr e) noexcept { state_.template emplace<2>(std::move(e)); }
  void set_stopped() noexcept { state_.template emplace<3>(); }

  bool was_stopped() const noexcept { return state_.index() == 3; }
  /// Returns the value. \throws the error; aborted if the operation was stopped
  T take() {
    if (state_.index() == 2) std::rethrow_exception(std::get<2>(std::move(state_)));
    if (was_stopped()) throw aborted{};
    if constexpr (!std::is_void_v<T>) return std::get<1>(std::move(state_));
  }
  /// Passes the outcome on to a receiver.
  template <class Receiver> void send_to(Receiver& receiver) noexcept {
    if (auto* const error = std::get_if<2>(&state_))
      receiver.set_error(std::move(*error));
    else
      detail::complete(receiver, [this]() -> T { return take(); });
  }

 private:
  struct stopped {};
  std::variant<std::monostate, value_type, std::exception_ptr, stopped> state_;
};

/// A result that a thread or a fiber waits for.
template <class T> class waited_result {
 public:
  /// Calls start() outside `suspend`, because a coroutine may itself wait before its first co_await.
  /// \throws as suspend, before start() is called
  template <class Start> void wait(Start&& start) {
    const bool on_worker = worker_id() >= 0;
    if (on_worker) sukima::detail::require_suspension();
    start();
    if (on_worker && suspends()) return;
    std::unique_lock hold(lock_);
    ended_.wait(hold, [this] { return done_; });
  }
  /// Called once, when the operation ends. This object may be destroyed afterwards.
  template <class Set> void end(Set&& set) noexcept {
    set(outcome_);
    resumer waiter;
    {
      // Notifies under the lock: the waiter cannot return, and destroy this object, before the lock is
      // released.
      const std::lock_guard hold(lock_);
      done_ = true;
      waiter = resume_;
      ended_.notify_one();
    }
    if (waiter) waiter.resume();
  }
  auto take() {
    if constexpr (std::is_void_v<T>) {
      using result = std::optional<std::tuple<>>;
      if (outcome_.was_stopped()) return result();
      outcome_.take();
      return result(std::tuple<>());
    } else {
      using result = std::optional<std::tuple<T>>;
      if (outcome_.was_stopped()) return result();
      return result(std::tuple<T>(outcome_.take()));
    }
  }

 private:
  /// Suspends the running fiber until the operation has ended.
  /// \returns false if there is no memory for another fiber any more: then the thread must wait
  bool suspends() {
    try {
      if (!is_done()) suspend([this](resumer r) { resume_when_done(r); });
      return true;
    } catch (const std::system_error&) {
      return false;
    }
  }
  bool is_done() {
    const std::lock_guard hold(lock_);
    return done_;
  }
  void resume_when_done(resumer r) {
    {
      const std::lock_guard hold(lock_);
      if (!done_) {
        resume_ = r;
        return;
      }
    }
    r.resume();
  }

  outcome<T> outcome_;
  std::mutex lock_;  // protects the members below
  std::condition_variable ended_;
  resumer resume_;
  bool done_ = false;
};

/// A receiver that calls `target->end(set)`, where `set` fills an outcome.
template <class Target> struct outcome_receiver {
  Target target;
  template <class... Value> void set_value(Value&&... value) noexcept {
    target->end([&](auto& outcome) {
      try {
        outcome.set_value(std::forward<Value>(value)...);
      } catch (...) {
        outcome.set_error(std::current_exception());
      }
    });
  }
  void set_error(std::exception_ptr e) noexcept {
    target->end([&](auto& outcome) { outcome.set_error(std::move(e)); });
  }
  void set_stopped() noexcept {
    target->end([](auto& outcome) { outcome.set_stopped(); });
  }
};
template <class T> using waiting_receiver = outcome_receiver<waited_result<T>*>;

/// An operation that deletes itself when it has ended.
template <class Sender, class Receiver> struct detached_operation {
  struct ending {
    Receiver receiver;
    detached_operation* self;
    template <class... Value> void set_value(Value&&... value) noexcept {
      end([&](Receiver& r) { r.set_value(std::forward<Value>(value)...); });
    }
    void set_error(std::exception_ptr e) noexcept {
      end([&](Receiver& r) { r.set_error(std::move(e)); });
    }
    void set_stopped() noexcept {
      end([](Receiver& r) { r.set_stopped(); });
    }

   private:
    template <class Complete> void end(Complete complete) noexcept {
      if constexpr (requires { typename Receiver::notified_after_destruction; }) {
        Receiver last(std::move(receiver));  // this object is deleted, too
        delete self;
        complete(last);
      } else {
        complete(receiver);
        delete self;
      }
    }
  };
  decltype(std::declval<Sender>().connect(std::declval<ending>())) operation;
  detached_operation(Sender&& sender, Receiver&& receiver)
      : operation(std::move(sender).connect(ending{std::move(receiver), this})) {}
};
template <class Sender, class Receiver> void start_detached(Sender s, Receiver r) {
  (new detached_operation<Sender, Receiver>(std::move(s), std::move(r)))->operation.start();
}

/// The shared state of a future and its work. `waiter_` is null until it points to a waiter, whose function
/// is called at the end, or to `done`.
template <class T> class future_state {
 public:
  struct waiter {
    void (*ended)(waiter*) noexcept = nullptr;
  };
  bool is_done() const noexcept { return waiter_.load(std::memory_order_acquire) == &done; }
  template <class Set> void end(Set&& set) noexcept {
    set(result);
    // Release: the result. Acquire: the waiter's own fields.
    waiter* const waits = waiter_.exchange(&done, std::memory_order_acq_rel);
    if (waits != nullptr) waits->ended(waits);
  }
  /// Calls w.ended as soon as there is a result, perhaps at once.
  void wait(waiter& w) noexcept {
    waiter* none = nullptr;
    // Release: w's fields; acquire on failure: the result.
    if (!waiter_.compare_exchange_strong(none, &w, std::memory_order_release, std::memory_order_acquire))
      w.ended(&w);
  }
  outcome<T> result;

 private:
  inline static waiter done{};
  std::atomic<waiter*> waiter_{nullptr};  ///< pairs with: end, wait, is_done
};
template <class T> using future_receiver = outcome_receiver<std::shared_ptr<future_state<T>>>;

template <class T, class Receiver> struct future_operation : future_state<T>::waiter {
  std::shared_ptr<future_state<T>> state;
  Receiver receiver;
  future_operation(std::shared_ptr<future_state<T>> s, Receiver r)
      : future_state<T>::waiter{[](typename future_state<T>::waiter* self) noexcept {
          auto* const me = static_cast<future_operation*>(self);
          const std::shared_ptr<future_state<T>> kept = std::move(me->state);
          kept->result.send_to(me->receiver);
        }},
        state(std::move(s)),
        receiver(std::move(r)) {}
  future_operation(const future_operation&) = delete;
  future_operation& operator=(const future_operation&) = delete;
  void start() noexcept { state->wait(*this); }
  bool ends_at_once() noexcept {
    const bool done = state->is_done();
    if (done) start();
    return done;
  }
};

/// The awaiter of a sender in a coroutine. If the operation can end at once (its ends_at_once() has then done
/// what start() does), the coroutine is not suspended: resumed by the operation, it would run deeper in the
/// stack after each co_await in a loop.
template <class Sender> class sender_awaiter {
 public:
  using value_type = typename Sender::value_type;
  explicit sender_awaiter(Sender s)
      : operation_(std::move(s).connect(outcome_receiver<sender_awaiter*>{this})) {}
  sender_awaiter(const sender_awaiter&) = delete;
  sender_awaiter& operator=(const sender_awaiter&) = delete;

  bool await_ready() noexcept {
    if constexpr (requires { operation_.ends_at_once(); })
      return operation_.ends_at_once();
    else
      return false;
  }
  void await_suspend(std::coroutine_handle<> frame) noexcept {
    frame_ = frame;
    operation_.start();
  }
  value_type await_resume() { return outcome_.take(); }
  template <class Set> void end(Set&& set) noexcept {
    set(outcome_);
    if (frame_) frame_.resume();
  }

 private:
  std::coroutine_handle<> frame_;
  outcome<value_type> outcome_;
  decltype(std::declval<Sender>().connect(std::declval<outcome_receiver<sender_awaiter*>>())) operation_;
};

/// The promise of execution::task, without the result.
template <class T> struct task_promise_base {
  outcome<T> result;
  std::coroutine_handle<> continuation;  ///< the coroutine that awaits it …
  void (*ended)(void*) noexcept = nullptr;  ///< … or the function to call at its end, with `listener`
  void* listener = nullptr;

  static std::suspend_always initial_suspend() noexcept { return {}; }
  struct final_awaiter {
    static bool await_ready() noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> frame) noexcept {
      task_promise_base& me = frame.promise();
      if (me.ended == nullptr) return me.continuation;
      me.ended(me.listener);
      return std::noop_coroutine();
    }
    static void await_resume() noexcept {}
  };
  static final_awaiter final_suspend() noexcept { return {}; }
  void unhandled_exception() noexcept {
    try {
      throw;
    } catch (const aborted&) {
      result.set_stopped();
    } catch (...) {
      result.set_error(std::current_exception());
    }
  }
};
template <class T, class Task> struct task_promise : task_promise_base<T> {
  Task get_return_object() noexcept { return Task(std::coroutine_handle<task_promise>::from_promise(*this)); }
  template <class Value> void return_value(Value&& value) {
    this->result.set_value(std::forward<Value>(value));
  }
};
template <class Task> struct task_promise<void, Task> : task_promise_base<void> {
  Task get_return_object() noexcept { return Task(std::coroutine_handle<task_promise>::from_promise(*this)); }
  void return_void() noexcept { this->result.set_value(); }
};

template <class T, class Promise> struct task_awaiter {
  std::coroutine_handle<Promise> frame;
  static bool await_ready() noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) noexcept {
    frame.promise().continuation = awaiting;
    return frame;
  }
  T await_resume() { return frame.promise().result.take(); }
};

template <class T, class Task, class Receiver> struct task_operation {
  Task task;
  Receiver receiver;
  void start() noexcept {
    auto& promise = task.frame_.promise();
    promise.listener = this;
    promise.ended = [](void* self) noexcept {
      auto* const me = static_cast<task_operation*>(self);
      me->task.frame_.promise().result.send_to(me->receiver);
    };
    task.frame_.resume();
  }
};

}  // namespace sukima::execution::detail
