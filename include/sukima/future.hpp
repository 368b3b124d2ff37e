// SPDX-License-Identifier: Apache-2.0
// future: a result that is computed before it is needed, or when it is needed.
#pragma once

#include <sukima/detail/future.hpp>
#include <sukima/detail/hints.hpp>
#include <sukima/detail/unwinding.hpp>
#include <sukima/on.hpp>
#include <sukima/shared_future.hpp>

#include <exception>
#include <type_traits>
#include <utility>

/// \file
/// Two kinds of futures. A `future` belongs to a block, costs about three forks, and ends with its block. A
/// `shared_future`, which `launch` returns, may be stored and returned, and outlives every block.
/// docs/futures.md describes them.

namespace SUKIMA_NAMESPACE {
/// \addtogroup futures
/// @{

/// The result of an *expression* (a callable), which is called at most once, at any time between here and the
/// end of the block. An idle worker may call it; of several expressions the oldest is taken first. Otherwise
/// the future's own fiber calls it, at the first touch or at the end of the block.
///
/// The object belongs to the block and to the fiber that made it. All code inside the block may touch it, on
/// any worker and any number of times. A touch that must wait parks its fiber; other workers take the work
/// that this fiber can give away.
///
/// Each touch throws the exception of the expression. The exception aborts no other code, and without a touch
/// it is lost. If the block is left by an exception, or aborted, an expression that has not begun is dropped,
/// and one that has begun is cancelled and awaited. Source: Multilisp's futures and touches
/// (docs/futures.md).
///
/// Give it a name: a temporary ends with its statement, and computes the expression there.
/// \tparam T the type of the expression's result; void, or a reference, too
template <class T> class [[nodiscard]] future {
 public:
  /// A future of a function that has a context, which this constructor changes: functions called after this
  /// line must get `c`, not an older copy of it.
  /// \param c the caller's own context
  /// \param f the expression: called once, with a context if it takes one. Its captures are moved. They are
  ///          destroyed at the end of the block at the latest, perhaps after a touch has returned
  /// \throws what moving f throws
  /// \par Complexity constant, some nanoseconds; nothing is allocated
  template <class F>
    requires detail::callable_with<std::decay_t<F>&&>
  [[nodiscard]] explicit future(context& c, F&& f) : own_(&c) {
    detail::check_context(c, "sukima::future");
    c.top += push<std::decay_t<F>>(c.top, std::decay_t<F>(std::forward<F>(f)));
    note_context(c.top);
  }
  /// The same with a hint: the expression should run in that place, on any worker.
  template <class F, class P>
    requires detail::callable_with<std::decay_t<F>&&>
  [[nodiscard]] future(context& c, F&& f, detail::place_hint<P> hint) : own_(&c) {
    require_place<P>();
    detail::check_context(c, "sukima::future");
    using expression = detail::placed_branch<P, std::decay_t<F>>;
    c.top += push<expression>(c.top, expression(std::move(hint.where), std::decay_t<F>(std::forward<F>(f))));
    note_context(c.top);
  }
  /// A future of a function without a context, called by sukima::run or as a task.
  /// \throws usage_error outside a runtime, or if the function that called this one has a context and kept it
  ///         for itself; what moving f throws
  template <class F>
    requires detail::callable_with<std::decay_t<F>&&> && (!std::is_same_v<std::remove_cvref_t<F>, future>)
  [[nodiscard]] explicit future(F&& f) {
    push_ambient<std::decay_t<F>>(std::decay_t<F>(std::forward<F>(f)));
  }
  /// The same with a hint, in a function without a context.
  template <class F, class P>
    requires detail::callable_with<std::decay_t<F>&&>
  [[nodiscard]] future(F&& f, detail::place_hint<P> hint) {
    require_place<P>();
    using expression = detail::placed_branch<P, std::decay_t<F>>;
    push_ambient<expression>(expression(std::move(hint.where), std::decay_t<F>(std::forward<F>(f))));
  }
  future(const future&) = delete;
  future& operator=(const future&) = delete;
  /// Computes the expression if no fiber has begun it, or waits for it; see above for blocks left by
  /// exceptions. Must run in the fiber that made the future.
  ~future() {
    if (!cell_.is_done() || !detail::untouched(point_)) [[unlikely]]
      end();
    else if (point_->word != reinterpret_cast<std::uintptr_t>(kind_->spent))
      kind_->destroy(point_);  // cancelled before it began
    char* const scope = reinterpret_cast<char*>(point_);
    if (own_ != nullptr)
      own_->top = scope;
    else
      detail::ambient_of(scope).top = scope;
    if constexpr (detail::checks::on) detail::ambient_of(scope).handed = handed_before_;
  }

  /// Returns the result. Computes it here and now if no other fiber has begun to; otherwise waits for it.
  /// \param c the caller's own context
  /// \returns a reference that is valid until the end of the block; nothing if T is void
  /// \throws what the expression has thrown, at each touch; cancelled, if it was cancelled; aborted, if the
  ///         caller itself is aborted; usage_error in the expression itself, which would wait for itself
  /// \note If the expression runs on the caller's fiber and the caller is aborted, so is the expression:
  ///       later touches throw cancelled.
  template <class Checks = detail::checks> detail::touched<T> touch(context c) {
    detail::check_context(c, "sukima::future::touch");
    touch_at(c);
    return result();
  }
  /// The same without a context. \throws usage_error also if the library finds no context
  detail::touched<T> touch() {
    if (!cell_.is_done()) {
      detail::ambient_state* const ambient = detail::find_ambient();
      if (ambient == nullptr || ambient->top == nullptr)
        static_cast<void>(detail::touch_future(nullptr, point_));  // throws, or waits
      else
        detail::with_context([&](context c) { touch_at(c); });
    }
    return result();
  }
  /// The same as touch, but moves the result out; T need not be copyable. Later touches return the moved-from
  /// object. No other code may touch the future at the same time, or refer to the result.
  /// \throws as touch; what moving T throws
  template <class Checks = detail::checks> T take(context c) {
    detail::check_context(c, "sukima::future::take");
    touch_at(c);
    return detail::moved_out<T>(cell_);
  }
  /// The same without a context.
  T take() {
    static_cast<void>(touch());
    return detail::moved_out<T>(cell_);
  }
  /// Whether a touch would return at once. Any thread.
  bool is_done() const noexcept { return cell_.is_done(); }
  /// Cancels the expression: from now on touches throw cancelled, unless it has ended. An expression that has
  /// not begun never begins; a running one stops at its next poll, unless the future's own fiber runs it. Any
  /// thread may call this before the end of the block.
  void cancel() noexcept { detail::cancel_future(*point_); }

 private:
  template <class P> static constexpr void require_place() noexcept {
    static_assert(detail::place_source<P>,
                  "at a future sukima::on takes a place, or a function without arguments that returns one");
  }
  /// \returns the size of the choice point
  template <class F> std::size_t push(char* at, F f) {
    using operations = detail::future_operations<T, F>;
    point_ = operations::push(at, cell_, std::move(f));
    kind_ = &operations::kind;
    return sizeof(typename operations::point_type);
  }
  template <class F> void push_ambient(F f) {
    using operations = detail::future_operations<T, F>;
    char* const at = detail::take_ambient_room(sizeof(typename operations::point_type));
    try {
      note_context(at + push<F>(at, std::move(f)));
    } catch (...) {
      detail::ambient_of(at).top = at;
      throw;
    }
  }
  /// Records for the checks that older copies of the context are wrong from now on.
  void note_context([[maybe_unused]] char* top) noexcept {
    if constexpr (detail::checks::on) handed_before_ = std::exchange(detail::ambient_of(top).handed, top);
  }
  [[gnu::always_inline]] void touch_at(context c) {
    if (cell_.is_done()) return;
    const bool is_own_and_unbegun = detail::share_gate(c.top, point_) && !detail::gate_of(c.top).shared &&
                                    point_->word == reinterpret_cast<std::uintptr_t>(
                                                        static_cast<const detail::choice_point_kind*>(kind_));
    if (is_own_and_unbegun || detail::touch_future(c.top, point_)) kind_->run_here(point_, c);
  }
  detail::touched<T> result() {
    if constexpr (std::is_void_v<T>)
      static_cast<void>(cell_.get());
    else
      return cell_.get();
  }
  [[gnu::noinline]] void end() noexcept {
    const bool fails = std::uncaught_exceptions() > exceptions_before_;
    while (detail::end_future(point_, fails)) {
      try {
        kind_->run_here(point_, context{reinterpret_cast<char*>(point_) + kind_->size});
      } catch (const aborted&) {  // stays pending, and leaves by the fiber's next join
      }
    }
  }

  detail::future_value<T> cell_;
  detail::future_point* point_ = nullptr;
  const detail::future_kind* kind_ = nullptr;
  context* own_ = nullptr;
  int exceptions_before_ = detail::uncaught_in_fiber();
  char* handed_before_ = nullptr;
};

template <class F> future(context&, F) -> future<detail::result_of<F&&>>;
template <class F, class P>
future(context&, F, detail::place_hint<P>) -> future<detail::result_of<F&&>>;
template <class F> future(F) -> future<detail::result_of<F&&>>;
template <class F, class P> future(F, detail::place_hint<P>) -> future<detail::result_of<F&&>>;

/// @}
}  // namespace SUKIMA_NAMESPACE
