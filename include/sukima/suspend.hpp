// SPDX-License-Identifier: Apache-2.0
// suspend: a fiber parks on any event, and any thread may resume it.
#pragma once

#include <sukima/context.hpp>
#include <sukima/errors.hpp>

#include <cstdint>
#include <memory>
#include <utility>

namespace sukima {
class resumer;
}  // namespace sukima

namespace sukima::detail {
void suspend_running(char* top, void (*store)(void*, resumer), void* closure);
void resume_fiber(fiber& s, std::uint64_t number);
/// Counts the reasons why the running fiber must stay on its thread; null outside of a runtime.
unsigned* running_thread_bindings() noexcept;
}  // namespace sukima::detail

namespace sukima {

/// The right to resume one suspension, once. May be copied and called from any thread; it must not be called
/// after the runtime has ended.
class resumer {
 public:
  resumer() = default;
  /// Lets the fiber continue; some worker picks it up. May be called before the fiber has stopped entirely.
  /// \throws usage_error if this suspension was resumed before, or the resumer is empty
  /// \par Complexity constant; wakes at most one worker
  void resume() const {
    if (fiber_ == nullptr) throw usage_error("sukima: an empty resumer was called");
    detail::resume_fiber(*fiber_, number_);
  }
  explicit operator bool() const noexcept { return fiber_ != nullptr; }

 private:
  friend void detail::suspend_running(char*, void (*)(void*, resumer), void*);
  resumer(detail::fiber* s, std::uint64_t number) noexcept : fiber_(s), number_(number) {}
  detail::fiber* fiber_ = nullptr;
  std::uint64_t number_ = 0;
};

/// Parks the running fiber until somebody resumes it; its worker does other work meanwhile, and idle workers
/// may take what the fiber has left to split. Joins, blocking calls, futures and streams all wait this way.
///
/// \param c  the caller's context: what is pending below it may be given away while the fiber is parked
/// \param f  f(resumer) runs here and now and hands the resumer to whoever will know when to continue
/// \throws what f throws (the fiber is not parked then; f must not have handed the resumer out)
/// \throws usage_error outside of a runtime
template <class F>
  requires std::is_invocable_v<F&, resumer>
void suspend(context c, F&& f) {
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

/// Keeps the fiber on its thread while f runs: for code that holds a mutex or relies on thread-local state
/// across forks. A join in it that has to wait takes only work that ends the wait.
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

}  // namespace sukima
