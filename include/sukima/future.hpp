// SPDX-License-Identifier: Apache-2.0
// future, launch: a result that is computed before it is needed, or when it is.
#pragma once

#include <sukima/detail/future.hpp>
#include <sukima/detail/hints.hpp>
#include <sukima/on.hpp>

#include <exception>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

/// \file
/// Two kinds of futures. A `future` lies in a block, costs about four forks, and is over with its
/// block. A `shared_future`, which `launch` returns, may be stored and returned, and outlives every block.
/// docs/placement.md is the page about them.

namespace SUKIMA_NAMESPACE {
/// \addtogroup futures
/// @{

/// The result of an expression that may be computed at any time between here and the end of the block: by an
/// idle worker, the oldest first; or by its own fiber at the first touch, or at the end of the block. It is
/// computed exactly once.
///
/// The object belongs to the block and to the fiber that made it. Whatever runs inside of the block may touch
/// it, on any worker and as often as it likes. A touch that must wait parks its fiber; what that fiber has
/// left to give away others take.
///
/// An exception of the expression leaves each touch; nobody else is aborted by it, and nobody sees it if
/// nobody touches. Where the block is left by an exception, or aborted, an expression that nobody began is
/// dropped, and one that has begun is cancelled and awaited.
///
/// Give it a name: a temporary ends with its statement, and computes the expression there.
/// \tparam T the type of the expression's result; void, or a reference, too
template <class T> class [[nodiscard]] future {
 public:
  /// In a function that has a context, which moves up: what the function calls after this line must get `c`,
  /// not an older copy of it.
  /// \param f the expression: called once, with a context if it takes one. Its captures are moved
  /// \throws what moving f throws
  /// \par Complexity constant, some nanoseconds; nothing is allocated
  template <class F>
    requires detail::callable_with<std::decay_t<F>&&>
  [[nodiscard]] explicit future(context& c, F&& f) : own_(&c) {
    detail::check_context(c, "sukima::future");
    push<std::decay_t<F>>(c.top, std::decay_t<F>(std::forward<F>(f)));
    c.top += size_;
    note_context(c.top);
  }
  /// The same with a hint: the expression is to run there, whoever runs it.
  template <class F, class P>
    requires detail::callable_with<std::decay_t<F>&&>
  [[nodiscard]] future(context& c, F&& f, detail::place_hint<P> hint) : own_(&c) {
    static_assert(detail::place_source<P>,
                  "at a future sukima::on takes a place, or a function without arguments that returns one");
    detail::check_context(c, "sukima::future");
    using expression = detail::placed_branch<P, std::decay_t<F>>;
    push<expression>(c.top, expression(std::move(hint.where), std::decay_t<F>(std::forward<F>(f))));
    c.top += size_;
    note_context(c.top);
  }
  /// In a function without a context, called by sukima::run or as a task.
  /// \throws usage_error outside of a runtime, or if the function that called this one has a context and kept
  ///         it for itself; what moving f throws
  template <class F>
    requires detail::callable_with<std::decay_t<F>&&> && (!std::is_same_v<std::remove_cvref_t<F>, future>)
  [[nodiscard]] explicit future(F&& f) {
    push_ambient<std::decay_t<F>>(std::decay_t<F>(std::forward<F>(f)));
  }
  template <class F, class P>
    requires detail::callable_with<std::decay_t<F>&&>
  [[nodiscard]] future(F&& f, detail::place_hint<P> hint) {
    using expression = detail::placed_branch<P, std::decay_t<F>>;
    push_ambient<expression>(expression(std::move(hint.where), std::decay_t<F>(std::forward<F>(f))));
  }
  future(const future&) = delete;
  future& operator=(const future&) = delete;
  /// Computes the expression if nobody has, or waits for it; see above for blocks left by exceptions.
  /// Must run in the fiber that made the future.
  ~future() {
    if (!cell_.is_done() || !detail::untouched(point_)) [[unlikely]]
      end();
    else if (point_->word != reinterpret_cast<std::uintptr_t>(kind_->spent))
      kind_->destroy(point_);  // cancelled before anybody had begun it
    char* const scope = reinterpret_cast<char*>(point_);
    if (own_ != nullptr)
      own_->top = scope;
    else
      detail::ambient_of(scope).top = scope;
    if constexpr (detail::checks::on) detail::ambient_of(scope).handed = handed_before_;
  }

  /// The result. Computes it here and now, if nobody has begun to; else waits for it.
  /// \param c the caller's own context
  /// \returns a reference that is good until the end of the block; nothing where T is void
  /// \throws what the expression has thrown, each time; cancelled, if it was cancelled; aborted where the
  ///         caller itself is aborted; usage_error in the expression itself, which would wait for itself
  /// \note Where the expression runs on the caller's fiber and the caller is aborted, so is the expression:
  ///       later touches throw cancelled.
  template <class Checks = detail::checks> detail::touched<T> touch(context c) {
    detail::check_context(c, "sukima::future::touch");
    touch_at(c);
    return result();
  }
  /// The same without a context. \throws usage_error also where there is none to be found
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
  /// Would a touch return at once? Any thread.
  bool is_done() const noexcept { return cell_.is_done(); }
  /// From now on touches throw cancelled, unless the expression has ended. It does not begin any more, or
  /// stops at its next poll; where the future's own fiber runs it, it goes on. Any thread, before the end of
  /// the block.
  void cancel() noexcept { detail::cancel_future(cell_); }

 private:
  template <class F> void push(char* at, F f) {
    using operations = detail::future_operations<T, F>;
    point_ = operations::push(at, cell_, std::move(f));
    kind_ = &operations::kind;
    size_ = sizeof(typename operations::point_type);
  }
  template <class F> void push_ambient(F f) {
    using operations = detail::future_operations<T, F>;
    char* const at = detail::take_ambient_room(sizeof(typename operations::point_type));
    try {
      push<F>(at, std::move(f));
    } catch (...) {
      detail::ambient_of(at).top = at;
      throw;
    }
    note_context(at + size_);
  }
  /// An older copy of the context is not right any more.
  void note_context([[maybe_unused]] char* top) noexcept {
    if constexpr (detail::checks::on) handed_before_ = std::exchange(detail::ambient_of(top).handed, top);
  }
  [[gnu::always_inline]] void touch_at(context c) {
    if (cell_.is_done()) return;
    const detail::gate& here = detail::gate_of(c.top);
    const bool is_own_and_unbegun = &here == &detail::gate_of(point_) && !here.shared &&
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
        kind_->run_here(point_, context{reinterpret_cast<char*>(point_) + size_});
      } catch (const aborted&) {  // stays pending, and leaves by the fiber's next join
      }
    }
  }

  detail::future_value<T> cell_;
  detail::future_point* point_ = nullptr;
  const detail::future_kind* kind_ = nullptr;
  context* own_ = nullptr;
  std::size_t size_ = 0;
  int exceptions_before_ = std::uncaught_exceptions();
  char* handed_before_ = nullptr;
};

template <class F> future(context&, F) -> future<detail::result_of<F&&>>;
template <class F, class P>
future(context&, F, detail::place_hint<P>) -> future<detail::result_of<F&&>>;
template <class F> future(F) -> future<detail::result_of<F&&>>;
template <class F, class P> future(F, detail::place_hint<P>) -> future<detail::result_of<F&&>>;

/// @}
}  // namespace SUKIMA_NAMESPACE

namespace sukima::detail {
template <class F> struct launching;
}  // namespace sukima::detail

namespace sukima {
/// \addtogroup futures
/// @{

/// Argument of shared_future::touch: the caller computes, too, until the future has ended.
struct helping_t {};
inline constexpr helping_t helping{};

/// A handle of a launched future: may be copied, stored, returned, and dropped. A copy costs one atomic
/// increment. The result lives as long as a handle. No call of `touch` or `cancel` from another thread may be
/// in progress when its runtime is destroyed; later ones are fine.
template <class T> class shared_future {
 public:
  /// A handle of nothing.
  shared_future() noexcept = default;
  shared_future(const shared_future& other) noexcept : state_(other.state_) {
    if (state_ != nullptr) detail::hold_launched(*state_);
  }
  shared_future(shared_future&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  shared_future& operator=(shared_future other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  /// The expression is computed all the same. An exception of it that nobody has seen is lost.
  ~shared_future() { detail::release_launched(state_); }

  /// The result. A fiber of the future's runtime computes it here and now if no worker has begun it, and
  /// waits for it otherwise. Any fiber and any thread may call this, any number of times.
  ///
  /// A thread that is in no runtime, and a fiber of another one, compute nothing: they wait, and a worker
  /// begins the future next. If the runtime has no worker to do so (`workers` is 1, or one CPU is usable),
  /// one more runs until the wait ends. `touch(helping)` makes the caller compute, too.
  /// \param c the caller's own context
  /// \returns a reference that is good as long as a handle; nothing where T is void
  /// \throws what the expression has thrown, each time; cancelled, if it was cancelled or its runtime has
  ///   ended before; aborted where the caller itself is aborted; usage_error if the handle is empty, or in
  ///   the expression itself, which would wait for itself
  template <class Checks = detail::checks> detail::touched<T> touch(context c) const {
    detail::check_context(c, "sukima::shared_future::touch");
    return touch_from(c.top);
  }
  /// The same without a context.
  detail::touched<T> touch() const { return touch_from(nullptr); }
  /// The same, but a thread that is not in the future's runtime enters it and runs what waits there until
  /// this future has ended. That keeps its CPU busy. It may run expressions that have nothing to do with this
  /// future, and return only when such a one has ended. \throws as touch; what entering throws
  detail::touched<T> touch(helping_t) const { return touch_from(nullptr, detail::touching::helps); }

  explicit operator bool() const noexcept { return state_ != nullptr; }
  /// Would a touch return at once? \pre the handle is not empty
  bool is_done() const noexcept { return state_->cell->is_done(); }
  /// From now on touches throw cancelled, unless the expression has ended. It does not begin any more, or
  /// stops at its next poll. Any thread. \pre the handle is not empty
  void cancel() const noexcept { detail::cancel_launched(*state_); }

 private:
  template <class F> friend struct detail::launching;
  explicit shared_future(detail::launched_value<T>* state) noexcept : state_(state) {}
  detail::touched<T> touch_from(char* top, detail::touching how = detail::touching::waits) const {
    if (state_ == nullptr) throw usage_error("sukima: an empty shared_future was touched");
    if (!state_->result.is_done()) detail::touch_launched(top, *state_, how);
    if constexpr (std::is_void_v<T>)
      static_cast<void>(state_->result.get());
    else
      return state_->result.get();
  }
  detail::launched_value<T>* state_ = nullptr;
};

namespace detail {
/// Makes the handles of launched expressions.
template <class F> struct launching {
  using result = result_of<F&&>;
  template <class Call> static shared_future<result> launch(F&& f, sukima_place where) {
    auto made = make<Call>(std::move(f), where);
    made->place = where;
    launch_task(*made);
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

/// Hands an expression to the running fiber's runtime, on an ordinary thread to the default one, and returns
/// a handle of its result. Workers without work compute it, the oldest first, or whoever touches it first. It
/// has no place in the computation that launched it: no abort or exception of that reaches it. What is
/// launched and never touched is computed when a worker has nothing else to do; where one worker is all that
/// there is or fits, that is a thread inside of the runtime, so it may wait for the next one. What its
/// runtime has not begun when it ends is cancelled, and what it has begun is cancelled and awaited.
///
/// The call runs no expression and does not move to another thread, so the caller may hold a lock. Nothing
/// bounds the number of those that wait for a worker: each keeps its captures and about 200 bytes. A program
/// that launches faster than it computes must limit itself, for example by a touch of an older one before
/// each launch; `statistics::launched_peak` is the largest number so far.
/// \param f called once, with a context if it takes one
/// \throws std::bad_alloc; what moving f throws; usage_error after the runtime was shut down
/// \par Complexity constant: one allocation, less than a microsecond
template <class F>
  requires detail::callable_with<std::decay_t<F>&&>
[[nodiscard]] auto launch(F&& f) {
  using kept = std::decay_t<F>;
  using launching = detail::launching<kept>;
  return launching::template launch<detail::launched_call<typename launching::result, kept>>(
      kept(std::forward<F>(f)), detail::inherited_place);
}
/// The same with a hint: the expression is to run there. Without one it inherits the place of the code that
/// launches it.
/// \param hint on(P): a place, or a function that returns one, which is called at once
template <class F, class P>
  requires detail::callable_with<std::decay_t<F>&&>
[[nodiscard]] auto launch(F&& f, detail::place_hint<P> hint) {
  static_assert(
      detail::place_source<P>,
      "at sukima::launch sukima::on takes a place, or a function without arguments that returns one");
  using kept = std::decay_t<F>;
  using launching = detail::launching<kept>;
  const sukima_place where =
      detail::launch_follows_hints() ? detail::number_of(hint.where) : detail::inherited_place;
  return launching::template launch<detail::launched_call<typename launching::result, kept>>(
      kept(std::forward<F>(f)), where);
}

/// @}
}  // namespace SUKIMA_NAMESPACE
