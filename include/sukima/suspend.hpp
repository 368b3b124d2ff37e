// SPDX-License-Identifier: Apache-2.0
// suspend: parks a fiber until an event, after which any thread may resume it.
#pragma once

#include <sukima/detail/ambient.hpp>
#include <sukima/errors.hpp>

#include <cstdint>
#include <memory>
#include <utility>

namespace sukima {
class resumer;
}  // namespace sukima

namespace sukima::detail {
/// The function that the runtime calls when a suspended fiber's computation is cancelled.
struct cancel_action {
  void (*call)(void* closure, resumer) noexcept;
  void* closure;
};
/// Parks the running fiber after store(closure, resumer). \param cancel null: the suspension cannot be
/// cancelled
void suspend_running(char* top, void (*store)(void*, resumer), void* closure,
                     const cancel_action* cancel = nullptr);
/// Throws what suspend_running would throw before it calls `store`.
void require_suspension();
resumer suspension_resumer(fiber& s) noexcept;
void resume_fiber(fiber& s, std::uint64_t number);
/// Returns the counter of the reasons why the running fiber must stay on its thread; null outside a runtime.
unsigned* running_thread_bindings() noexcept;
}  // namespace sukima::detail

namespace sukima {
/// \addtogroup waiting
/// @{

/// The right to resume one suspension, once. May be copied and called from any thread; it must not be called
/// after the runtime has ended.
class resumer {
 public:
  resumer() = default;
  /// Makes the fiber ready, so that a worker continues it. May be called before the fiber has stopped
  /// entirely.
  /// \throws usage_error if this suspension was resumed before, or the resumer is empty
  /// \par Complexity constant; wakes at most one worker
  void resume() const {
    if (fiber_ == nullptr) throw usage_error("sukima: an empty resumer was called");
    detail::resume_fiber(*fiber_, number_);
  }
  /// Whether this object refers to a suspension. A default-constructed one does not.
  explicit operator bool() const noexcept { return fiber_ != nullptr; }

 private:
  friend void detail::suspend_running(char*, void (*)(void*, resumer), void*, const detail::cancel_action*);
  friend resumer detail::suspension_resumer(detail::fiber&) noexcept;
  resumer(detail::fiber* s, std::uint64_t number) noexcept : fiber_(s), number_(number) {}
  detail::fiber* fiber_ = nullptr;
  std::uint64_t number_ = 0;
};

/// @}
}  // namespace sukima

namespace SUKIMA_NAMESPACE {
/// \addtogroup waiting
/// @{

/// Parks the running fiber until it is resumed. Its worker does other work, and idle workers may take the
/// work that the fiber can still give away. Joins, blocking calls, futures and streams all wait this way.
///
/// A cancelled computation stays suspended until it is resumed, because other code may still use what f
/// passed to it (a buffer, an entry of a queue). With a third argument, `cancel`, the suspension can end
/// early.
/// \param c  the caller's context: pending work below it may be given away while the fiber is parked
/// \param f  f(resumer) runs here and now. It hands the resumer to the code that will know when the fiber can
///           continue. It may fork, but not wait for futures, groups or other events
/// \throws what f throws: then the fiber is not parked, and f must not have handed out the resumer
/// \throws usage_error outside a runtime, or in the function f of another suspension
/// \throws std::system_error if there is no memory for another fiber and no other worker could go on, so
///         nothing in the runtime could resume this fiber. f is not called then
template <class F>
  requires std::is_invocable_v<F&, resumer>
void suspend(context c, F&& f) {
  detail::check_context(c, "sukima::suspend");
  detail::suspend_running(
      c.top, [](void* closure, resumer r) { (*static_cast<std::remove_reference_t<F>*>(closure))(r); },
      const_cast<void*>(static_cast<const void*>(std::addressof(f))));
}

/// The same without a context.
template <class F>
  requires std::is_invocable_v<F&, resumer>
void suspend(F&& f) {
  detail::suspend_running(
      nullptr, [](void* closure, resumer r) { (*static_cast<std::remove_reference_t<F>*>(closure))(r); },
      const_cast<void*>(static_cast<const void*>(std::addressof(f))));
}

/// @}
}  // namespace SUKIMA_NAMESPACE

namespace sukima::detail {
template <class F, class Cancel> void suspend_cancellably(char* top, F& f, Cancel& cancel) {
  const cancel_action action{
      [](void* closure, resumer r) noexcept { (*static_cast<std::remove_reference_t<Cancel>*>(closure))(r); },
      const_cast<void*>(static_cast<const void*>(std::addressof(cancel)))};
  suspend_running(
      top, [](void* closure, resumer r) { (*static_cast<std::remove_reference_t<F>*>(closure))(r); },
      const_cast<void*>(static_cast<const void*>(std::addressof(f))), &action);
}
}  // namespace sukima::detail

namespace SUKIMA_NAMESPACE {
/// \addtogroup waiting
/// @{

/// Suspends the fiber as above, but can end the suspension early when the computation around it is cancelled,
/// or a sibling throws.
/// \param c, f    as above
/// \param cancel  cancel(resumer) is called at most once, when the fiber must be aborted while it is
///                suspended. It must take back what f has handed out, and resume the fiber if that succeeded.
///                If not, because other code is about to resume the fiber, it does nothing. It is called
///                after f has returned, on the thread that cancels or on a worker, and must not wait for
///                anything
/// \throws as suspend; `aborted` if the caller is aborted, during the suspension or before f is called
template <class F, class Cancel>
  requires std::is_invocable_v<F&, resumer> && std::is_nothrow_invocable_v<Cancel&, resumer>
void suspend(context c, F&& f, Cancel&& cancel) {
  detail::check_context(c, "sukima::suspend");
  detail::suspend_cancellably(c.top, f, cancel);
}
/// The same without a context.
template <class F, class Cancel>
  requires std::is_invocable_v<F&, resumer> && std::is_nothrow_invocable_v<Cancel&, resumer>
void suspend(F&& f, Cancel&& cancel) {
  detail::suspend_cancellably(nullptr, f, cancel);
}

/// @}
}  // namespace SUKIMA_NAMESPACE

namespace sukima {
/// \addtogroup waiting
/// @{

/// Calls f and keeps the fiber on its thread until f returns. Use it for code that holds a mutex or relies on
/// thread-local state across forks. A join in f that must wait runs only descendants of the awaited task.
/// After a millisecond of waiting, another worker runs instead of this one, as with `blocking`, because the
/// wait may depend on work that this thread must not run.
/// \throws what f throws
template <class F> decltype(auto) thread_bound(F&& f) {
  struct binding {
    unsigned* count = detail::running_thread_bindings();
    binding() noexcept {
      if (count != nullptr) ++*count;
    }
    ~binding() {
      if (count != nullptr) --*count;
    }
  } keep;
  return std::forward<F>(f)();
}

/// @}
}  // namespace sukima
