// SPDX-License-Identifier: Apache-2.0
// shared_future and launch: results that outlive every block. then, when_all and when_any: work that begins
// after them.
#pragma once

#include <sukima/cancel.hpp>
#include <sukima/detail/hints.hpp>
#include <sukima/detail/launched.hpp>
#include <sukima/on.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <concepts>
#include <memory>
#include <new>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace sukima {
template <class T> class shared_future;
}  // namespace sukima

namespace sukima::detail {
template <class F> struct launching;
/// Gives the library access to a handle.
struct handle_access;
/// Waits until the future has ended, or until a moment. Computes nothing. \returns whether it has ended
bool wait_launched_until(char* top, launched& t, std::chrono::steady_clock::time_point at);
}  // namespace sukima::detail

namespace SUKIMA_DETAIL_NAMESPACE {
/// Returns the place that a hint at a launch names; inherited_place if hints are switched off.
template <class P> sukima_place place_of_launch(place_hint<P>& hint) {
  static_assert(
      place_source<P>,
      "at sukima::launch sukima::on takes a place, or a function without arguments that returns one");
  return launch_follows_hints() ? detail::requested_place(hint.where) : inherited_place;
}
template <class F, class T> inline constexpr bool is_continuation = callable_with<F&&, touched<T>>;
template <class F> inline constexpr bool is_continuation<F, void> = callable_with<F&&>;
/// Whether F can be called with the result of a future.
template <class F, class T>
concept continues = is_continuation<F, T>;
template <class T> inline constexpr bool is_handle = false;
template <class T> inline constexpr bool is_handle<shared_future<T>> = true;
template <class T, class F> auto launch_then(const shared_future<T>& source, F&& f, sukima_place where);
}  // namespace SUKIMA_DETAIL_NAMESPACE

namespace sukima {
/// \addtogroup futures
/// @{

/// Argument of shared_future::touch: the caller computes, too, until the future has ended.
struct helping_t {};
inline constexpr helping_t helping{};  ///< the value to pass

/// A handle of a launched future. It may be copied, stored, returned, and dropped. A copy costs one atomic
/// increment. The result exists as long as a handle: it is destroyed with the last one, or at the end of the
/// expression if that comes later. When the runtime is destroyed, no call of `touch` or `cancel` from another
/// thread may be in progress; later calls are allowed.
template <class T> class shared_future {
 public:
  /// An empty handle.
  shared_future() noexcept = default;
  shared_future(const shared_future& other) noexcept : state_(other.state_) {
    if (state_ != nullptr) detail::hold_launched(*state_);
  }
  shared_future(shared_future&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  shared_future& operator=(shared_future other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  /// Drops the handle; the expression is still computed. An exception that no touch has thrown is lost.
  ~shared_future() { detail::release_launched(state_); }

  /// Returns the result. A fiber of the future's runtime computes it here and now if no worker has begun it,
  /// and otherwise waits for it. Any fiber and any thread may call this, any number of times.
  ///
  /// A thread outside every runtime, or a fiber of another runtime, only waits, and a worker runs the future
  /// next. If the runtime has no background worker (`workers` is 1, or one CPU is usable), it adds one until
  /// the wait ends. With `touch(helping)` the caller computes, too.
  /// \param c the caller's own context
  /// \returns a reference that is valid as long as a handle exists; nothing if T is void
  /// \throws what the expression has thrown, at each touch; cancelled, if it was cancelled or its runtime
  ///         ended before; aborted, if the caller itself is aborted; usage_error if the handle is empty, or
  ///         in the expression itself, which would wait for itself; std::system_error if it must wait, and
  ///         no memory is left for the fiber or the worker that the wait needs
  template <class Checks = detail::checks> detail::touched<T> touch(context c) const {
    detail::check_context(c, "sukima::shared_future::touch");
    return touch_from(c.top);
  }
  /// The same without a context.
  detail::touched<T> touch() const { return touch_from(nullptr); }
  /// The same, but a thread that is not in the future's runtime enters it and runs work there until this
  /// future has ended. That keeps its CPU busy. The thread may run other expressions, and then returns only
  /// after the present one has ended. An expression that no worker has begun needs no second fiber.
  /// \throws as touch; what entering throws
  detail::touched<T> touch(helping_t) const { return touch_from(nullptr, detail::touching::helps); }

  /// The same as touch, but moves the result out of the future; T need not be copyable. The handle is empty
  /// afterwards. Later touches by other handles return the moved-from object. No other code may touch the
  /// future at the same time, or refer to the result.
  /// \throws as touch; what moving T throws
  template <class Checks = detail::checks> T take(context c) && {
    detail::check_context(c, "sukima::shared_future::take");
    const shared_future own(std::move(*this));
    static_cast<void>(own.touch_from(c.top));
    return detail::moved_out<T>(own.state_->result);
  }
  /// The same without a context.
  T take() && {
    const shared_future own(std::move(*this));
    static_cast<void>(own.touch_from(nullptr));
    return detail::moved_out<T>(own.state_->result);
  }

  /// Waits until the future has ended, but at most for that time. The caller computes nothing. While a fiber
  /// waits, its worker does other work, so the call may return late; an ordinary thread sleeps.
  /// \param span 0 or less: does not wait. More than a hundred years: waits without limit
  /// \returns whether it has ended; then a touch returns at once
  /// \throws usage_error if the handle is empty; aborted where the caller itself is aborted;
  ///         std::system_error if the thread that measures time cannot be started, or as touch
  template <class Rep, class Period> bool wait_for(std::chrono::duration<Rep, Period> span) const {
    return wait_at_most(nullptr, detail::moment_after(span));
  }
  /// The same with a context: other workers may take pending work below it.
  template <class Rep, class Period, class Checks = detail::checks>
  bool wait_for(context c, std::chrono::duration<Rep, Period> span) const {
    detail::check_context(c, "sukima::shared_future::wait_for");
    return wait_at_most(c.top, detail::moment_after(span));
  }
  /// The same until a moment.
  template <class Clock, class Duration> bool wait_until(std::chrono::time_point<Clock, Duration> at) const {
    return wait_at_most(nullptr, detail::steady_moment(at));
  }
  /// The same until a moment, with a context.
  template <class Clock, class Duration, class Checks = detail::checks>
  bool wait_until(context c, std::chrono::time_point<Clock, Duration> at) const {
    detail::check_context(c, "sukima::shared_future::wait_until");
    return wait_at_most(c.top, detail::steady_moment(at));
  }

  /// Launches f, which begins once this future has ended with a value: f(context, value), or f(value);
  /// without the value if T is void. Until then it occupies neither a fiber nor a thread. It runs in the
  /// runtime in which `launch` would run it, on any worker. If this future ends by an exception or is
  /// cancelled, f is not called, and touches of the new future throw that exception, or cancelled.
  ///
  /// The new future keeps this one alive until f has ended. If f returns a reference, perhaps to a part of
  /// the value, the new future keeps this one as long as itself. Cancelling one does not cancel the other. If
  /// this future belongs to another runtime without a background worker, that runtime adds one until this
  /// future ends.
  /// \pre the handle is not empty
  /// \throws as launch
  /// \par Complexity constant: two allocations
  template <class F, class Checks = detail::checks>
    requires detail::continues<std::decay_t<F>, T>
  [[nodiscard]] auto then(F&& f) const {
    return detail::launch_then(*this, std::forward<F>(f), detail::inherited_place);
  }
  /// The same with a hint: f should run in that place.
  template <class F, class P, class Checks = detail::checks>
    requires detail::continues<std::decay_t<F>, T>
  [[nodiscard]] auto then(F&& f, detail::place_hint<P> hint) const {
    return detail::launch_then(*this, std::forward<F>(f), detail::place_of_launch(hint));
  }

  /// Whether this is a handle of a future, and not empty.
  explicit operator bool() const noexcept { return state_ != nullptr; }
  /// Whether a touch would return at once. \pre the handle is not empty
  bool is_done() const noexcept { return state_->cell->is_done(); }
  /// Cancels the expression: from now on touches throw cancelled, unless it has ended. If it has not begun it
  /// never begins; otherwise it stops at its next poll. Any thread. No effect after fork() in the child
  /// process, if the future's runtime is the parent's. \pre the handle is not empty
  void cancel() const noexcept { detail::cancel_launched(*state_); }

 private:
  template <class F> friend struct detail::launching;
  friend struct detail::handle_access;
  explicit shared_future(detail::launched_value<T>* state) noexcept : state_(state) {}
  detail::touched<T> touch_from(char* top, detail::touching how = detail::touching::waits) const {
    if (state_ == nullptr) throw usage_error("sukima: an empty shared_future was touched");
    if (!state_->result.is_done()) detail::touch_launched(top, *state_, how);
    if constexpr (std::is_void_v<T>)
      static_cast<void>(state_->result.get());
    else
      return state_->result.get();
  }
  bool wait_at_most(char* top, std::chrono::steady_clock::time_point at) const {
    if (state_ == nullptr) throw usage_error("sukima: an empty shared_future was waited for");
    return state_->result.is_done() || detail::wait_launched_until(top, *state_, at);
  }
  detail::launched_value<T>* state_ = nullptr;
};

namespace detail {
struct handle_access {
  template <class T> static launched* state_of(const shared_future<T>& f) {
    if (f.state_ == nullptr) throw usage_error("sukima: an empty shared_future has no end to continue after");
    return f.state_;
  }
  template <class T> static shared_future<T> make(launched_value<T>* state) {
    return shared_future<T>(state);
  }
  /// The future that owns what a reference to the value of f may refer to; null if none is known.
  template <class T> static launched* owner_of(const shared_future<T>& f) noexcept {
    if constexpr (std::is_reference_v<T>)
      return f.state_->refers_to.get();
    else
      return f.state_;
  }
};

/// Makes the handles of launched expressions.
template <class F> struct launching {
  using result = result_of<F&&>;
  template <class Call> static shared_future<result> launch(F&& f, sukima_place where) {
    auto made = make<Call>(std::move(f), where);
    made->place = where;
    detail::launch_task(*made);
    return shared_future<result>(made.release());
  }
  /// Launches a call that begins once `needed` of the sources have ended.
  template <class Call> static shared_future<result> launch_after(F&& f, sukima_place where,
                                                                  std::span<launched* const> sources,
                                                                  std::size_t needed) {
    auto made = make<Call>(std::move(f), where);
    made->place = where;
    detail::launch_after(*made, sources, needed);
    return shared_future<result>(made.release());
  }

 private:
  template <class Call> static std::unique_ptr<Call> make(F&& f, sukima_place where) {
    try {
      return std::make_unique<Call>(std::move(f));
    } catch (const std::bad_alloc&) {
      if (where != inherited_place) no_memory_to_launch();
      throw;
    }
  }
};
}  // namespace detail

/// @}
}  // namespace sukima

namespace SUKIMA_NAMESPACE {
/// \addtogroup futures
/// @{

/// Passes an *expression* (a callable) to the running fiber's runtime, on an ordinary thread to the default
/// one, and returns a handle of its result. Idle workers compute launched expressions, the oldest first; a
/// fiber that touches one computes it if no worker has begun it. An abort or exception of the code that
/// launched it does not affect it. An expression that is never touched is computed when a worker has nothing
/// else to do. If the runtime has only one worker, that worker is a thread inside the runtime, so the
/// expression may wait for the next thread that enters. The end of the runtime cancels all launched
/// expressions, and waits for those that have begun.
///
/// An expression that refers to the caller's frame must be touched before the frame ends, also if the caller
/// is aborted: touch it below `sukima::shielded`, or use a `future` of a block, which its block awaits.
///
/// The call runs no expression and does not move to another thread, so the caller may hold a lock. The number
/// of waiting expressions is unbounded; each takes about 250 bytes plus its captures. A program that launches
/// faster than it computes must limit itself, for example by touching an older future before each launch.
/// `statistics::launched_peak` is the largest number so far.
/// \param f called once, with a context if it takes one. Its captures are destroyed before a touch returns;
///          if it is cancelled before it has begun, perhaps a moment after a touch has thrown `cancelled`
/// \returns the handle
/// \throws std::bad_alloc; what moving f throws; usage_error after the runtime was shut down
/// \par Complexity constant: at most one allocation, less than a microsecond
template <class F>
  requires detail::callable_with<std::decay_t<F>&&>
[[nodiscard]] auto launch(F&& f) {
  using kept = std::decay_t<F>;
  using launching = detail::launching<kept>;
  return launching::template launch<detail::launched_call<typename launching::result, kept>>(
      kept(std::forward<F>(f)), detail::inherited_place);
}
/// The same with a hint: the expression should run in that place. Without a hint it inherits the place of the
/// code that launches it.
/// \param f    as above
/// \param hint on(P): a place, or a function that returns one, which is called at once
template <class F, class P>
  requires detail::callable_with<std::decay_t<F>&&>
[[nodiscard]] auto launch(F&& f, detail::place_hint<P> hint) {
  using kept = std::decay_t<F>;
  using launching = detail::launching<kept>;
  return launching::template launch<detail::launched_call<typename launching::result, kept>>(
      kept(std::forward<F>(f)), detail::place_of_launch(hint));
}

/// @}
}  // namespace SUKIMA_NAMESPACE

namespace SUKIMA_DETAIL_NAMESPACE {

/// Launches f, which begins once `needed` of the sources have ended.
template <class F>
auto launch_after_ends(F&& f, sukima_place where, std::span<launched* const> sources, std::size_t needed) {
  using kept = std::decay_t<F>;
  using launching = launching<kept>;
  return launching::template launch_after<launched_call<typename launching::result, kept>>(
      kept(std::forward<F>(f)), where, sources, needed);
}

template <class T, class F> auto launch_then(const shared_future<T>& source, F&& f, sukima_place where) {
  using plain = continuation<T, std::decay_t<F>>;
  const std::array<launched*, 1> sources{handle_access::state_of(source)};
  plain expression{source, std::decay_t<F>(std::forward<F>(f))};
  if constexpr (std::is_reference_v<result_of<plain&&>>) {
    using referring = referring_continuation<T, std::decay_t<F>>;
    using launching = launching<referring>;
    return launching::template launch_after<referring_call<typename launching::result, referring>>(
        referring{std::move(expression), handle_access::owner_of(source)}, where, sources, 1);
  } else {
    return detail::launch_after_ends(std::move(expression), where, sources, 1);
  }
}

template <std::ranges::input_range Handles> auto copies_of(Handles&& handles) {
  std::vector<std::ranges::range_value_t<Handles>> all;
  for (const auto& one : handles) all.push_back(one);
  return all;
}
template <class T> std::vector<launched*> states_of(const std::vector<shared_future<T>>& all) {
  std::vector<launched*> states;
  states.reserve(all.size());
  for (const auto& one : all) states.push_back(handle_access::state_of(one));
  return states;
}

}  // namespace SUKIMA_DETAIL_NAMESPACE

namespace SUKIMA_NAMESPACE {
/// \addtogroup futures
/// @{

/// Returns a future without a value that ends when all of these have ended. If some ended by an exception or
/// were cancelled, its touches throw what a touch of the first of these throws, in the order of the
/// arguments. The values are in the futures themselves, whose touches then return at once. No fiber waits for
/// them.
/// \throws usage_error if a handle is empty; as launch
/// \par Complexity linear in the number of futures
template <class... T>
[[nodiscard]] shared_future<void> when_all(const shared_future<T>&... futures) {
  const std::array<detail::launched*, sizeof...(T)> sources{detail::handle_access::state_of(futures)...};
  return detail::launch_after_ends(
      [futures...]([[maybe_unused]] context c) { (static_cast<void>(futures.touch(c)), ...); },
      detail::inherited_place, sources, sizeof...(T));
}
/// The same for a range of handles, which are copied.
template <std::ranges::input_range Handles>
  requires detail::is_handle<std::ranges::range_value_t<Handles>>
[[nodiscard]] shared_future<void> when_all(Handles&& futures) {
  auto all = detail::copies_of(futures);
  const std::vector<detail::launched*> sources = detail::states_of(all);
  return detail::launch_after_ends(
      [all = std::move(all)](context c) {
        for (const auto& one : all) static_cast<void>(one.touch(c));
      },
      detail::inherited_place, sources, sources.size());
}

/// Returns a future that ends when the first of these has ended, with a value or not. Its value is the index,
/// from 0, of a future that has ended; of several the lowest. The others continue. No fiber waits for them.
/// \throws usage_error if a handle is empty; as launch
/// \par Complexity linear in the number of futures
template <class First, class... T>
[[nodiscard]] shared_future<std::size_t> when_any(const shared_future<First>& first,
                                                  const shared_future<T>&... futures) {
  const std::array<detail::launched*, sizeof...(T) + 1> sources{detail::handle_access::state_of(first),
                                                                detail::handle_access::state_of(futures)...};
  return detail::launch_after_ends(
      [first, futures...] {
        const std::array<bool, sizeof...(T) + 1> ended{first.is_done(), futures.is_done()...};
        return static_cast<std::size_t>(std::ranges::find(ended, true) - ended.begin());
      },
      detail::inherited_place, sources, 1);
}
/// The same for a range of handles, which are copied. \throws usage_error also for an empty range
template <std::ranges::input_range Handles>
  requires detail::is_handle<std::ranges::range_value_t<Handles>>
[[nodiscard]] shared_future<std::size_t> when_any(Handles&& futures) {
  auto all = detail::copies_of(futures);
  if (all.empty()) throw usage_error("sukima: when_any got an empty range; pass at least one future");
  const std::vector<detail::launched*> sources = detail::states_of(all);
  return detail::launch_after_ends(
      [all = std::move(all)] {
        const auto ended = std::ranges::find_if(all, [](const auto& one) { return one.is_done(); });
        return static_cast<std::size_t>(ended - all.begin());
      },
      detail::inherited_place, sources, 1);
}

/// @}
}  // namespace SUKIMA_NAMESPACE
