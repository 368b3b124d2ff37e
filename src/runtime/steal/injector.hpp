// SPDX-License-Identifier: Apache-2.0
// The queue that all workers share, for fibers and tasks that are in no owner's slots.
#pragma once

#include "fiber/fiber.hpp"
#include "linked_queue.hpp"
#include "park/wait_turn.hpp"

#include <sukima/detail/atomics.hpp>

#include <cstddef>

namespace sukima::detail {

class parking;
class place_events;
class rest_check;
enum class permitted_work;
struct work;
struct worker;

/// Where a task goes: behind the others, or before them because a fiber waits for it.
enum class queue_end : bool { back, front };

/// Fibers that can go on, and tasks whose fiber stopped before a thief took them. First in, first out.
class injector_queue {
 public:
  injector_queue(const settings& chosen, parking& park, const place_events& hints);
  injector_queue(const injector_queue&) = delete;
  injector_queue& operator=(const injector_queue&) = delete;

  /// Both wake the sentinel.
  void push(fiber* runnable) noexcept;
  void push(task* t, queue_end to = queue_end::back) noexcept;
  /// A fiber, else a task; empty: nothing that the caller may do.
  /// \param by  the worker that takes it: where there are hints it gets work for its place sooner, but passes
  ///            the first fiber over only `most_passed_over` times in a row (constants.hpp); null: no hints
  work take(const task* awaited, permitted_work allowed, const worker* by = nullptr) noexcept;
  /// A fiber that is ready, without regard to hints; null: there is none.
  fiber* take_runnable() noexcept;
  /// A task for another node: one that travels, or one that has come from a node and was not begun; null:
  /// none.
  task* take_for_node() noexcept;
  /// Whether it was empty a moment ago.
  bool is_empty() const noexcept { return size_.load(std::memory_order_seq_cst) == 0; }

 private:
  friend class rest_check;
  fiber* take_fiber(const worker* by) noexcept;
  task* take_task(const task* awaited, permitted_work allowed, const worker* by) noexcept;

  parking& park_;
  const place_events& hints_;
  alignas(128) policy_mutex lock_;
  linked_queue<fiber, &fiber::next> fibers_;
  linked_queue<task, &task::queued> tasks_;
  int passed_over_ = 0;  ///< how often the first fiber was
  /// Changed under the lock, read before it is taken. pairs with: push, take
  atomic<std::size_t> size_{0};
};

}  // namespace sukima::detail
