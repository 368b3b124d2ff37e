// SPDX-License-Identifier: Apache-2.0
// tbb::task: the running task's context, and tasks that are suspended.
#pragma once

#include <oneapi/tbb/task_group.h>
#include <sukima/detail/tbb/arena.hpp>
#include <sukima/detail/tbb/running.hpp>

namespace tbb::task {

/// The right to resume a suspended task.
using suspend_point = ::sukima::resumer;

/// The context of the calling task; null outside all tasks.
inline task_group_context* current_context() {
  return static_cast<task_group_context*>(::sukima::detail::tbb::running().context);
}
/// Calls f(suspend_point) and waits until `resume` is called for that. The task may go on on another thread.
/// \pre the caller is a task, or code in task_arena::execute
template <class F> void suspend(F f) {
  const ::sukima::detail::tbb::arena::pause one_more_drainer(::sukima::detail::tbb::arena_here());
  ::sukima::detail::tbb::suspend_task([&](::sukima::resumer r) { f(r); });
}
/// Lets the task go on.
inline void resume(suspend_point tag) { tag.resume(); }

}  // namespace tbb::task
