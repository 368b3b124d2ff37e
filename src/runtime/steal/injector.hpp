// SPDX-License-Identifier: Apache-2.0
// The queue that all workers share, for fibers that can continue and for tasks that are in no fiber's
// publication slots.
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

/// Where a task is inserted: after the others, or before them because a fiber waits for it.
enum class queue_end : bool { back, front };

/// Fibers that can continue, and tasks whose fiber stopped before a thief took them. First in, first out.
class injector_queue {
 public:
  injector_queue(const settings& chosen, parking& park, const place_events& hints);
  injector_queue(const injector_queue&) = delete;
  injector_queue& operator=(const injector_queue&) = delete;

  /// Both wake the sentinel.
  void push(fiber* runnable) noexcept;
  void push(task* t, queue_end to = queue_end::back) noexcept;
  /// Takes a fiber, or a task if there is none; empty: there is no work that the caller may do.
  /// \param by  the worker that takes it: if there are hints, it takes work for its place first, but skips
  ///            the first fiber at most `most_passed_over` times in a row (constants.hpp); null: no hints
  work take(const task* awaited, permitted_work allowed, const worker* by = nullptr) noexcept;
  /// Takes a fiber that is ready, and ignores hints; null: there is none.
  fiber* take_runnable() noexcept;
  /// Takes a task for another node: a task that travels, or a task that came from a node and has not begun;
  /// null: none.
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
  int passed_over_ = 0;  ///< how often the first fiber was skipped
  /// Changed under the lock, read before it is taken. pairs with: push, take
  atomic<std::size_t> size_{0};
};

}  // namespace sukima::detail
