// SPDX-License-Identifier: Apache-2.0
// tbb::task: the context of the running task, and suspended tasks.
#pragma once

#include <oneapi/tbb/task_group.h>
#include <sukima/detail/tbb/arena.hpp>
#include <sukima/detail/tbb/running.hpp>

#include <cstddef>

namespace tbb::task {

/// The right to resume a suspended task. An empty one is equal to a null pointer.
class suspend_point {
 public:
  suspend_point() = default;
  suspend_point(std::nullptr_t) noexcept {}  // NOLINT(google-explicit-constructor)
  explicit operator bool() const noexcept { return static_cast<bool>(resumer_); }
  friend bool operator==(const suspend_point& p, std::nullptr_t) noexcept { return !p; }

 private:
  template <class F> friend void suspend(F f);
  friend void resume(suspend_point tag);
  explicit suspend_point(::sukima::resumer r) noexcept : resumer_(r) {}
  ::sukima::resumer resumer_;
};

/// Returns the context of the calling task; null outside all tasks.
inline task_group_context* current_context() {
  return static_cast<task_group_context*>(::sukima::detail::tbb::running().context);
}
/// Calls f(suspend_point) and waits until `resume` is called for that point. The task may continue on another
/// thread. A thread that runs no task waits itself, and continues on the same thread.
template <class F> void suspend(F f) {
  // Qualified: a program may have an `arena` or `enter` of its own.
  const ::sukima::detail::tbb::arena::pause one_more_drainer(::sukima::detail::tbb::arena_here());
  const auto call = [&](::sukima::resumer r) {
    suspend_point point(r);
    f(point);
  };
  if (::sukima::detail::find_ambient() == nullptr)
    ::sukima::detail::tbb::enter([&](::sukima::context c) { ::sukima::suspend(c, call); });
  else
    ::sukima::detail::tbb::suspend_task(call);
}
/// Lets the task continue.
inline void resume(suspend_point tag) { tag.resumer_.resume(); }

}  // namespace tbb::task
