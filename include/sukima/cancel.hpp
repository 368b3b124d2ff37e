// SPDX-License-Identifier: Apache-2.0
// Cancels a computation: from any thread, by a std::stop_token, or at a deadline.
#pragma once

#include <sukima/detail/ambient.hpp>
#include <sukima/detail/task.hpp>
#include <sukima/errors.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

namespace sukima::detail {

/// The state that a cancellable computation and its cancellers share. `stage` is changed by CAS: open →
/// cancelling → cancelled, or open → closed. The closing side waits for the stage `cancelling` to end,
/// because the canceller writes to the task in that stage.
struct cancel_state {
  enum class stage : int { open, cancelling, cancelled, closed };
  std::atomic<stage> now{stage::open};  ///< pairs with: cancel_scope, close_scope in abort.cpp
  fiber* owner = nullptr;
  task* running = nullptr;  ///< the task that the owner runs in the segment of the scope
  choice_point* scope = nullptr;
};

void cancel_scope(cancel_state& s) noexcept;
/// Lets `cancellable` make a canceller.
struct canceller_access;
/// Ends the scope. \returns whether it was cancelled
bool close_scope(cancel_state& s) noexcept;
/// Ends a scope that `aborted` has left. \returns true if the abort ends here, false if something further out
/// was aborted, too
bool abort_ends_here(cancel_state& s) noexcept;
void open_scope(cancel_state& s, choice_point* scope) noexcept;

inline constexpr choice_point_kind scope_kind = closed_kind(choice_point_alignment);

/// What `cancellable` returns for a function that returns Result.
template <class Result> using unless_cancelled = std::conditional_t<
    std::is_void_v<Result>, bool,
    std::optional<std::conditional_t<std::is_lvalue_reference_v<Result>,
                                     std::reference_wrapper<std::remove_reference_t<Result>>,
                                     std::remove_reference_t<stored<Result>>>>>;

/// Calls body(context) as a scope that `state` cancels. The first of two events decides: the body's end, or a
/// cancellation. A cancelled scope has no value, even if its body has returned one.
template <class Body, class Result = std::invoke_result_t<Body&, context>>
unless_cancelled<Result> run_scope(context c, cancel_state& state, Body&& body) {
  auto* scope = ::new (static_cast<void*>(c.top)) choice_point{reinterpret_cast<std::uintptr_t>(&scope_kind)};
  const context below{c.top + choice_point_alignment};
  open_scope(state, scope);
  try {
    if constexpr (std::is_void_v<Result>) {
      body(below);
      return !close_scope(state);
    } else {
      unless_cancelled<Result> value(body(below));
      if (close_scope(state)) value.reset();
      return value;
    }
  } catch (const aborted&) {
    if (!abort_ends_here(state)) throw;
  } catch (...) {
    close_scope(state);
    throw;
  }
  return {};
}

/// A moment at which the clock's thread calls a function, under its lock, so the function must not wait. The
/// alarm is stored in the frame of the call. It stays in the clock's list until the moment has come or the
/// alarm is stopped.
struct alarm {
  std::chrono::steady_clock::time_point at;
  void (*ring)(alarm&) noexcept = nullptr;
  alarm* next = nullptr;
};
/// Starts the clock's thread, if there is none. \throws std::system_error if it cannot be started
void start_clock();
/// \pre the clock's thread runs
void start_alarm(alarm& a) noexcept;
/// Stops an alarm. Afterwards the clock does not touch it.
void stop_alarm(alarm& a) noexcept;

/// A moment at which a scope is cancelled.
struct deadline : alarm {
  cancel_state* scope = nullptr;
};
/// Starts the clock for a deadline. \throws std::system_error if the clock's thread cannot be started
void start_deadline(deadline& d);
/// Stops a deadline. Afterwards the clock does not touch it. If the moment has come, the scope is cancelled,
/// whether or not the clock's thread had a CPU in time.
void end_deadline(deadline& d) noexcept;

class deadline_keeper {
 public:
  deadline_keeper(std::chrono::steady_clock::time_point at, cancel_state& scope) : deadline_{{at}, &scope} {
    if (is_ever()) start_deadline(deadline_);
  }
  deadline_keeper(const deadline_keeper&) = delete;
  deadline_keeper& operator=(const deadline_keeper&) = delete;
  ~deadline_keeper() {
    if (is_ever()) end_deadline(deadline_);
  }

 private:
  bool is_ever() const noexcept { return deadline_.at != std::chrono::steady_clock::time_point::max(); }
  deadline deadline_;
};

/// Returns the end of a time span that begins now. For a span that is not above 0, or not a number, this is
/// now; for a span of more than a hundred years it is never.
template <class Rep, class Period>
std::chrono::steady_clock::time_point moment_after(std::chrono::duration<Rep, Period> span) {
  using steady = std::chrono::steady_clock;
  const double seconds = std::chrono::duration<double>(span).count();
  if (!(seconds > 0)) return steady::now();
  if (seconds > 100.0 * 365 * 86'400) return steady::time_point::max();
  return steady::now() + std::chrono::ceil<steady::duration>(span);
}
template <class Clock, class Duration>
std::chrono::steady_clock::time_point steady_moment(std::chrono::time_point<Clock, Duration> at) {
  using seconds = std::chrono::duration<double>;  // cannot overflow
  if constexpr (std::is_same_v<Clock, std::chrono::steady_clock>) {
    using steady = std::chrono::steady_clock;
    const seconds since = at.time_since_epoch();
    if (since >= seconds(steady::duration::max())) return steady::time_point::max();
    if (!(since > seconds(steady::duration::min()))) return steady::time_point::min();  // nor a number
    return std::chrono::time_point_cast<steady::duration>(at);
  } else {
    return moment_after(seconds(at.time_since_epoch()) - seconds(Clock::now().time_since_epoch()));
  }
}

template <class F> using scope_result = unless_cancelled<result_of<F&>>;

/// Shields the running segment of the fiber. \returns false if it was already shielded
bool raise_shield(char* top) noexcept;
void lower_shield(char* top) noexcept;

}  // namespace sukima::detail

namespace SUKIMA_DETAIL_NAMESPACE {

template <class F> scope_result<F> cancellable_by(context c, const std::stop_token& token, F& f) {
  if (token.stop_requested()) return {};
  cancel_state state;
  return run_scope(c, state, [&](context below) -> result_of<F&> {
    const auto cancel = [&state]() noexcept { cancel_scope(state); };
    const std::stop_callback<decltype(cancel)> keep(token, cancel);
    return detail::call(below, f);
  });
}

template <class F>
scope_result<F> cancellable_until(context c, std::chrono::steady_clock::time_point at, F& f) {
  if (at <= std::chrono::steady_clock::now()) return {};
  cancel_state state;
  return run_scope(c, state, [&](context below) -> result_of<F&> {
    const deadline_keeper keep(at, state);
    return detail::call(below, f);
  });
}

template <class F> scope_result<F> cancellable_by_or_until(context c, const std::stop_token& token,
                                                           std::chrono::steady_clock::time_point at, F& f) {
  if (token.stop_requested() || at <= std::chrono::steady_clock::now()) return {};
  cancel_state state;
  return run_scope(c, state, [&](context below) -> result_of<F&> {
    const deadline_keeper keep(at, state);
    const auto cancel = [&state]() noexcept { cancel_scope(state); };
    const std::stop_callback<decltype(cancel)> keep_too(token, cancel);
    return detail::call(below, f);
  });
}

/// While this object lives, no abort from outside `c` takes effect in the running fiber
/// (src/runtime/cancel/abort.hpp).
class shield {
 public:
  explicit shield(context c) noexcept : place_(raise_shield(c.top) ? c.top : nullptr) {}
  shield(const shield&) = delete;
  shield& operator=(const shield&) = delete;
  ~shield() {
    if (place_ != nullptr) lower_shield(place_);
  }

 private:
  char* place_;  ///< null if the fiber was already shielded
};

}  // namespace SUKIMA_DETAIL_NAMESPACE

namespace sukima {
/// \addtogroup cancelling
/// @{

/// A handle that cancels the `cancellable` computation for which it was made. Copies cancel the same one.
class canceller {
 public:
  /// Aborts the computation: its tasks stop at their next poll. Any thread may call this. Later calls, and
  /// calls after the end of the computation, do nothing.
  /// \par Complexity some microseconds; does not wait for the tasks
  void cancel() const noexcept { detail::cancel_scope(*state_); }

 private:
  friend detail::canceller_access;
  explicit canceller(std::shared_ptr<detail::cancel_state> s) : state_(std::move(s)) {}
  std::shared_ptr<detail::cancel_state> state_;
};

struct detail::canceller_access {
  static canceller make(std::shared_ptr<cancel_state> s) { return canceller(std::move(s)); }
};

namespace detail {
/// Refuses a function that nothing could cancel. \returns true
template <class F> consteval bool require_takes_canceller() noexcept {
  constexpr bool takes_canceller = callable_with<F&, canceller>;
  static_assert(takes_canceller,
                "sukima::cancellable(f) calls f(context, canceller) or f(canceller): let f take a "
                "sukima::canceller, or write a std::stop_token, a deadline or a time span before f");
  return takes_canceller;
}
}  // namespace detail
/// @}
}  // namespace sukima

namespace SUKIMA_NAMESPACE {
/// \addtogroup cancelling
/// @{

/// Calls f(context, canceller). Returns its result as a std::optional, which is empty if f was cancelled
/// before it ended. For a void f returns whether it ended; for an f that returns a reference the optional
/// holds a std::reference_wrapper.
/// \param c  the caller's own context
/// \param f  takes a context and a canceller, or only a canceller
/// \throws what f throws; `aborted` if something around it is aborted; std::bad_alloc
template <class F> auto cancellable(context c, F&& f) {
  detail::check_context(c, "sukima::cancellable");
  if constexpr (detail::require_takes_canceller<F>()) {
    auto state = std::make_shared<detail::cancel_state>();
    return detail::run_scope(c, *state, [&](context below) -> decltype(auto) {
      return detail::call(below, f, detail::canceller_access::make(state));
    });
  } else {
    return std::optional<int>();
  }
}

/// The same without a context; f takes only the canceller or both.
template <class F> auto cancellable(F&& f) {
  if constexpr (detail::require_takes_canceller<F>()) {
    return detail::with_context([&](context c) {
      return sukima::cancellable(c, [&](context below, canceller&& cancel) -> decltype(auto) {
        return detail::call(below, f, std::move(cancel));
      });
    });
  } else {
    return std::optional<int>();
  }
}

/// Calls f until a stop is requested. Returns its result, or nothing if it was cancelled before it ended (for
/// a void f: whether it ended). If a stop was already requested, f is not called.
///
/// The first of two events decides: the request, or f's end. After a request the result is empty, even if f
/// has no poll and returns one.
///
/// The request may come from any thread; it takes some microseconds, allocates nothing and does not
/// wait. f's tasks stop at their next poll, as with a `canceller`. Polling costs nothing more: no flag is
/// polled.
/// \param c      the caller's own context
/// \param token  the source of the request
/// \param f      takes a context, or nothing
/// \throws what f throws; `aborted` if something around it is aborted
template <class F>
  requires detail::callable_with<F&>
auto cancellable(context c, const std::stop_token& token, F&& f) {
  detail::check_context(c, "sukima::cancellable");
  return detail::cancellable_by(c, token, f);
}
/// The same without a context.
template <class F>
  requires detail::callable_with<F&>
auto cancellable(const std::stop_token& token, F&& f) {
  return detail::with_context([&](context c) { return detail::cancellable_by(c, token, f); });
}

/// Calls f until a moment has come. Returns its result, or nothing if the moment came before f ended (for a
/// void f: whether it ended). If the moment has already passed, f is not called. An f without polls runs on
/// to its end, and has no result if that is after the moment.
///
/// A thread of the library, started at the first use, sleeps until the next deadline; f's tasks stop at
/// their next poll after it, some tens of microseconds later. Polling costs nothing more: no clock is read.
/// \param c   the caller's own context
/// \param at  a time of any clock. Clocks other than std::chrono::steady_clock are read once: later changes
///            of the system's time do not move the deadline
/// \param f   takes a context, or nothing
/// \throws what f throws; `aborted` if something around it is aborted; std::system_error if the thread
///         cannot be started
template <class Clock, class Duration, class F>
  requires detail::callable_with<F&>
auto cancellable(context c, std::chrono::time_point<Clock, Duration> at, F&& f) {
  detail::check_context(c, "sukima::cancellable");
  return detail::cancellable_until(c, detail::steady_moment(at), f);
}
/// The same with a time span, which begins now. A span that is not above 0 ends at once; one of more
/// than a hundred years never ends.
template <class Rep, class Period, class F>
  requires detail::callable_with<F&>
auto cancellable(context c, std::chrono::duration<Rep, Period> span, F&& f) {
  detail::check_context(c, "sukima::cancellable");
  return detail::cancellable_until(c, detail::moment_after(span), f);
}
/// The same without a context.
template <class Clock, class Duration, class F>
  requires detail::callable_with<F&>
auto cancellable(std::chrono::time_point<Clock, Duration> at, F&& f) {
  return detail::with_context(
      [&](context c) { return detail::cancellable_until(c, detail::steady_moment(at), f); });
}
/// The same with a time span, without a context.
template <class Rep, class Period, class F>
  requires detail::callable_with<F&>
auto cancellable(std::chrono::duration<Rep, Period> span, F&& f) {
  const auto at = detail::moment_after(span);
  return detail::with_context([&](context c) { return detail::cancellable_until(c, at, f); });
}

/// Calls f until a stop is requested or a moment has come, whichever is first, in one scope for both.
/// Otherwise as the functions with only one of them.
template <class Clock, class Duration, class F>
  requires detail::callable_with<F&>
auto cancellable(context c, const std::stop_token& token, std::chrono::time_point<Clock, Duration> at,
                 F&& f) {
  detail::check_context(c, "sukima::cancellable");
  return detail::cancellable_by_or_until(c, token, detail::steady_moment(at), f);
}
/// The same with a time span, which begins now.
template <class Rep, class Period, class F>
  requires detail::callable_with<F&>
auto cancellable(context c, const std::stop_token& token, std::chrono::duration<Rep, Period> span, F&& f) {
  detail::check_context(c, "sukima::cancellable");
  return detail::cancellable_by_or_until(c, token, detail::moment_after(span), f);
}
/// The same without a context.
template <class Clock, class Duration, class F>
  requires detail::callable_with<F&>
auto cancellable(const std::stop_token& token, std::chrono::time_point<Clock, Duration> at, F&& f) {
  const auto moment = detail::steady_moment(at);
  return detail::with_context(
      [&](context c) { return detail::cancellable_by_or_until(c, token, moment, f); });
}
/// The same with a time span, without a context.
template <class Rep, class Period, class F>
  requires detail::callable_with<F&>
auto cancellable(const std::stop_token& token, std::chrono::duration<Rep, Period> span, F&& f) {
  const auto moment = detail::moment_after(span);
  return detail::with_context(
      [&](context c) { return detail::cancellable_by_or_until(c, token, moment, f); });
}

/// Calls f, which runs to its end even if the computation around it is cancelled or a sibling throws. Use it
/// for code that must be finished once begun, and for forks in destructors and `noexcept` functions, which
/// `aborted` must not leave. An abort from outside takes effect at the first poll after f. Inside f, scopes
/// of `cancellable` are cancelled as usual, and exceptions leave f.
///
/// A destructor that runs because an exception is in flight is shielded without this.
/// \param c  the caller's own context
/// \param f  takes a context, or nothing
/// \returns what f returns
/// \throws what f throws
/// \par Complexity constant, some nanoseconds
template <class F>
  requires detail::callable_with<F>
decltype(auto) shielded(context c, F&& f) {
  detail::check_context(c, "sukima::shielded");
  const detail::shield keep(c);
  return detail::call(c, std::forward<F>(f));
}
/// The same without a context.
template <class F>
  requires detail::callable_with<F>
decltype(auto) shielded(F&& f) {
  return detail::with_context(
      [&](context c) -> decltype(auto) {
        const detail::shield keep(c);
        return detail::call(c, std::forward<F>(f));
      },
      true);
}

/// @}
}  // namespace SUKIMA_NAMESPACE
