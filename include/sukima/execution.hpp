// SPDX-License-Identifier: Apache-2.0
// Senders, a scheduler, futures and coroutines, with which event loops and coroutines of other programs run
// work on Sukima's workers.
//
// The names are those of P2300 (std::execution, C++26), of which this is a small part: schedule, just, then,
// connect, start, sync_wait, task. A sender sends one value or none.
#pragma once

#include <sukima/detail/execution.hpp>
#include <sukima/detail/pool.hpp>
#include <sukima/detail/scope.hpp>
#include <sukima/runtime.hpp>

#include <concepts>
#include <coroutine>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

/// Senders, schedulers, futures and coroutines: a small part of P2300 on Sukima's workers.
namespace sukima::execution {
/// \addtogroup execution
/// @{

/// The type that a sender names as its `sender_concept`.
struct sender_t {};

/// Describes work that has not begun. When it is connected to a receiver and started, it calls one of the
/// receiver's functions, once: set_value(its value, if it has one), set_error(std::exception_ptr), or
/// set_stopped(), which means that it was cancelled (an `aborted` left it). `value_type` is the type of its
/// value, or void.
template <class S>
concept sender = std::same_as<typename std::remove_cvref_t<S>::sender_concept, sender_t> &&
                 std::move_constructible<std::remove_cvref_t<S>> &&
                 requires { typename std::remove_cvref_t<S>::value_type; };

/// Connects a sender to a receiver.
/// \returns the state of the operation. It must not be moved, and must exist until one of the receiver's
///          functions is called
template <sender S, class Receiver> [[nodiscard]] auto connect(S&& s, Receiver r) {
  return std::forward<S>(s).connect(std::move(r));
}
/// Starts an operation. To be called once.
template <class Operation> void start(Operation& operation) noexcept { operation.start(); }

/// The sender that `just` makes: sends a value at once, on the thread that starts it.
template <class T> class just_sender {
 public:
  using sender_concept = sender_t;
  using value_type = T;
  explicit just_sender(T value) : value_(std::move(value)) {}
  template <class Receiver> struct operation {
    T value;
    Receiver receiver;
    void start() noexcept {
      detail::complete(receiver, [this]() -> T { return std::move(value); });
    }
    bool ends_at_once() noexcept {
      start();
      return true;
    }
  };
  template <class Receiver> operation<Receiver> connect(Receiver r) && {
    return {std::move(value_), std::move(r)};
  }
  template <class Receiver> operation<Receiver> connect(Receiver r) const& { return {value_, std::move(r)}; }

 private:
  T value_;
};
/// Returns a sender of this value.
template <class T> just_sender<std::decay_t<T>> just(T&& value) {
  return just_sender<std::decay_t<T>>(std::forward<T>(value));
}

/// The sender that `then` makes.
template <class S, class F> class then_sender {
 public:
  using sender_concept = sender_t;
  using value_type = typename detail::result_for<F, typename S::value_type>::type;
  then_sender(S s, F f) : sender_(std::move(s)), f_(std::move(f)) {}

  template <class Receiver> struct step {
    F f;
    Receiver receiver;
    template <class... Value> void set_value(Value&&... value) noexcept {
      detail::complete(receiver,
                       [&]() -> value_type { return std::invoke(f, std::forward<Value>(value)...); });
    }
    void set_error(std::exception_ptr e) noexcept { receiver.set_error(std::move(e)); }
    void set_stopped() noexcept { receiver.set_stopped(); }
  };
  template <class Receiver> auto connect(Receiver r) && {
    return std::move(sender_).connect(step<Receiver>{std::move(f_), std::move(r)});
  }
  template <class Receiver> auto connect(Receiver r) const& {
    return sender_.connect(step<Receiver>{f_, std::move(r)});
  }

 private:
  S sender_;
  F f_;
};
/// Returns a sender that calls f with the value of another sender and sends the result. f runs where that
/// sender completes.
template <sender S, class F> then_sender<std::remove_cvref_t<S>, std::decay_t<F>> then(S&& s, F&& f) {
  return {std::forward<S>(s), std::forward<F>(f)};
}
/// The same for the form `sender | then(f)`.
template <class F> detail::then_closure<std::decay_t<F>> then(F&& f) { return {std::forward<F>(f)}; }
/// The sender on the left followed by the function of `then` on the right.
template <sender S, class F> auto operator|(S&& s, detail::then_closure<F> closure) {
  return execution::then(std::forward<S>(s), std::move(closure.f));
}

class scheduler;

/// Accepts work for the workers of a runtime at any time and from any thread, so no thread must wait in
/// `run`. Its own thread enters the runtime as one more worker while there is work, and sleeps otherwise.
///
/// Pieces of work begin in the order in which they were scheduled, and may run at the same time. They may
/// fork, loop and suspend like any task. While more than 512 of them run or are suspended, further ones wait.
class pool {
 public:
  /// \throws std::system_error  its thread cannot be started
  explicit pool(runtime& on = default_runtime()) : core_(on) {}
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;
  /// Waits until everything that was scheduled has run. Must not run on a worker of its runtime.
  ~pool() = default;
  /// Returns its scheduler, a handle that may be copied and is valid until the pool ends.
  scheduler get_scheduler() noexcept;

 private:
  detail::pool_core core_;
};

/// A handle of a pool. Two handles are equal if they belong to the same pool.
class scheduler {
 public:
  bool operator==(const scheduler&) const = default;

  /// The sender that `schedule` makes: completes on one of the pool's workers.
  class schedule_sender {
   public:
    using sender_concept = sender_t;
    using value_type = void;
    explicit schedule_sender(detail::pool_core& p) noexcept : pool_(&p) {}
    template <class Receiver> struct operation : detail::work_item {
      detail::pool_core* pool;
      Receiver receiver;
      operation(detail::pool_core* p, Receiver r)
          : work_item{[](work_item* self) noexcept { static_cast<operation*>(self)->receiver.set_value(); }},
            pool(p),
            receiver(std::move(r)) {}
      operation(const operation&) = delete;
      operation& operator=(const operation&) = delete;
      void start() noexcept { pool->push(*this); }
    };
    template <class Receiver> operation<Receiver> connect(Receiver r) const {
      return operation<Receiver>(pool_, std::move(r));
    }

   private:
    detail::pool_core* pool_;
  };
  /// Returns a sender that completes on one of the pool's workers.
  schedule_sender schedule() const noexcept { return schedule_sender(*pool_); }

 private:
  friend class pool;
  explicit scheduler(detail::pool_core& p) noexcept : pool_(&p) {}
  detail::pool_core* pool_;
};
inline scheduler pool::get_scheduler() noexcept { return scheduler(core_); }

/// Returns a sender that completes on one of the scheduler's workers.
inline scheduler::schedule_sender schedule(const scheduler& on) noexcept { return on.schedule(); }

/// Starts a sender and waits until it has completed. On a worker the fiber is suspended, and the worker does
/// other work. An ordinary thread sleeps.
/// \returns an optional with a tuple of its value, or with an empty tuple if it sends none. The optional is
///          empty if the sender was cancelled
/// \throws what it sends as an error
template <sender S> auto sync_wait(S&& s) {
  using value_type = typename std::remove_cvref_t<S>::value_type;
  detail::waited_result<value_type> result;
  auto operation = execution::connect(std::forward<S>(s), detail::waiting_receiver<value_type>{&result});
  result.wait([&]() noexcept { operation.start(); });
  return result.take();
}

/// `co_await sender` in any coroutine: the coroutine continues where the sender completes, with its value.
/// \throws in the coroutine, what the sender sends as an error; `aborted` if it was cancelled
template <sender S>
  requires(!requires(S&& s) { std::forward<S>(s).operator co_await(); })
detail::sender_awaiter<std::remove_cvref_t<S>> operator co_await(S && s) {
  return detail::sender_awaiter<std::remove_cvref_t<S>>(std::forward<S>(s));
}

/// A coroutine that computes a T, and a sender of that T. It begins when it is awaited, started or waited
/// for, and its frame is destroyed with the object. (std::execution has `task` from C++26 on; other libraries
/// call it lazy or task.)
///
/// A task that ends without waiting continues the awaiting coroutine by a tail call. clang++ always compiles
/// it as one, but g++ only with -foptimize-sibling-calls, which -O2 includes. Give g++ that option in builds
/// with -O0 or -O1: otherwise a loop that awaits some ten thousand such tasks overflows the stack.
template <class T = void> class [[nodiscard]] task {
 public:
  using sender_concept = sender_t;
  using value_type = T;
  using promise_type = detail::task_promise<T, task>;

  explicit task(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}
  task(task&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  task& operator=(task&& other) noexcept {
    std::swap(frame_, other.frame_);
    return *this;
  }
  ~task() {
    if (frame_) frame_.destroy();
  }

  template <class Receiver> detail::task_operation<T, task, Receiver> connect(Receiver r) && {
    return {std::move(*this), std::move(r)};
  }
  /// co_await: continues in the task, and in the awaiting coroutine when the task ends.
  auto operator co_await() && noexcept { return detail::task_awaiter<T, promise_type>{frame_}; }

 private:
  template <class, class, class> friend struct detail::task_operation;
  std::coroutine_handle<promise_type> frame_;
};

/// The result of work that has already begun, from `async`. It is a sender, too. A program may wait for it or
/// await it once.
template <class T> class [[nodiscard]] future {
 public:
  using sender_concept = sender_t;
  using value_type = T;

  /// Waits for the result, as sync_wait does. \throws what the work threw; `aborted` if it was cancelled
  T get() && {
    auto found = execution::sync_wait(std::move(*this));
    if (!found) throw aborted{};
    if constexpr (!std::is_void_v<T>) return std::move(std::get<0>(*found));
  }
  /// Whether the work has ended.
  bool is_ready() const noexcept { return state_->is_done(); }

  template <class Receiver> detail::future_operation<T, Receiver> connect(Receiver r) && {
    return detail::future_operation<T, Receiver>(std::move(state_), std::move(r));
  }

 private:
  template <sender S> friend future<typename S::value_type> ensure_started(S s);
  explicit future(std::shared_ptr<detail::future_state<T>> state) : state_(std::move(state)) {}
  std::shared_ptr<detail::future_state<T>> state_;
};

/// Starts a sender now.
/// \returns a future of its value. The work runs to its end even if the future is dropped
/// \throws std::bad_alloc; what moving the sender throws
template <sender S> future<typename S::value_type> ensure_started(S s) {
  using value_type = typename S::value_type;
  auto state = std::make_shared<detail::future_state<value_type>>();
  detail::start_detached(std::move(s), detail::future_receiver<value_type>{state});
  return future<value_type>(std::move(state));
}
/// Starts a call of f() on one of the scheduler's workers.
/// \returns a future of its result. The call runs to its end even if the future is dropped
/// \throws std::bad_alloc; what moving f throws
template <class F>
  requires std::invocable<std::decay_t<F>&>
auto async(const scheduler& on, F&& f) {
  return execution::ensure_started(execution::then(execution::schedule(on), std::forward<F>(f)));
}

/// Any number of started senders, which `join` awaits together: a task_group for coroutines, which may end on
/// another thread than the one on which they began.
///
/// The senders may spawn more. `join` sends their first error; other errors are lost.
class counting_scope {
 public:
  counting_scope() = default;
  counting_scope(const counting_scope&) = delete;
  counting_scope& operator=(const counting_scope&) = delete;
  /// All spawned work must have ended, which `join` awaits. Otherwise the program ends by std::terminate.
  ~counting_scope() = default;

  /// Starts a sender and drops its value. Any thread. \throws std::bad_alloc; what moving the sender throws
  template <sender S> void spawn(S s) {
    core_.begin();
    try {
      detail::start_detached(std::move(s), detail::scope_receiver{&core_});
    } catch (...) {
      core_.end(nullptr);
      throw;
    }
  }

  /// The sender that `join` makes.
  class join_sender {
   public:
    using sender_concept = sender_t;
    using value_type = void;
    explicit join_sender(detail::scope_core& c) noexcept : core_(&c) {}
    template <class Receiver> detail::join_operation<Receiver> connect(Receiver r) const {
      return detail::join_operation<Receiver>(core_, std::move(r));
    }

   private:
    detail::scope_core* core_;
  };
  /// Returns a sender that completes when all spawned work has ended, on the thread where the last of it
  /// ended, or at once if it has already ended. Only one such sender may be in progress at a time.
  join_sender join() noexcept { return join_sender(core_); }

 private:
  detail::scope_core core_;
};

/// @}
}  // namespace sukima::execution
