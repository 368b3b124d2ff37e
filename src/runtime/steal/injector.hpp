// SPDX-License-Identifier: Apache-2.0
// The queue that all workers share: what has no owner's slots to lie in.
#pragma once

#include "park/wait_policy.hpp"

#include <atomic>
#include <cstddef>
#include <deque>

namespace sukima::detail {

struct fiber;
struct runtime_core;
struct task;
enum class reach;
struct work;

/// Fibers that can go on, and tasks whose fiber stopped before a thief took them. First in, first out.
class injector_queue {
 public:
  explicit injector_queue(runtime_core& core);
  injector_queue(const injector_queue&) = delete;
  injector_queue& operator=(const injector_queue&) = delete;

  /// Both wake the sentinel.
  void push(fiber* runnable) noexcept;
  void push(task* t) noexcept;
  /// A fiber, else a task; empty: nothing that the caller may do.
  work take(const task* awaited, reach allowed) noexcept;

 private:
  runtime_core& core_;
  alignas(128) policy_mutex lock_;
  std::deque<fiber*> fibers_;
  std::deque<task*> tasks_;
  std::atomic<std::size_t> size_{0};  ///< changed under the lock, read before it is taken
};

}  // namespace sukima::detail
