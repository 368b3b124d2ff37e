// SPDX-License-Identifier: Apache-2.0
// Running tasks to their ends and waiting for them (join.cpp).
#pragma once

#include "fiber/fiber.hpp"

#include <sukima/detail/ambient.hpp>

namespace sukima::detail {

/// How many fibers wait at joins, off their workers.
class parked_fibers {
 public:
  void add() noexcept {
    const std::size_t now = now_.fetch_add(1, std::memory_order_relaxed) + 1;
    if (now > peak_.load(std::memory_order_relaxed)) peak_.store(now, std::memory_order_relaxed);
  }
  void remove() noexcept { now_.fetch_sub(1, std::memory_order_relaxed); }
  std::size_t now() const noexcept { return now_.load(std::memory_order_relaxed); }
  /// The most at a time, about.
  std::size_t peak() const noexcept { return peak_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::size_t> now_{0};
  std::atomic<std::size_t> peak_{0};
};

inline constexpr std::uintptr_t join_done = 1;
inline constexpr std::uintptr_t join_sleeper_mark = 2;  ///< | worker
inline constexpr std::uintptr_t join_parked_mark = 4;  ///< | fiber
inline bool is_done(const task* t) noexcept {
  return t->joining.load(std::memory_order_acquire) == join_done;
}
/// Ends a task that this worker ran: wakes or hands out whoever waits for it. The fiber to go on with, or
/// null. The task may be gone afterwards.
fiber* complete(worker& w, task* t) noexcept;
/// Runs a task in a segment that begins at `top`, up to its end; never throws.
void execute(fiber& s, task* t, char* top) noexcept;
/// Runs a task on a fiber of its own and waits for it on this one.
void run_on_new_fiber(fiber& s, root_task& root);
/// Runs a root within a runtime that this thread is inside of already.
void enter_within(fiber& s, root_task& root);
/// Is t the task `from`, or was it split off below it?
bool descends(const task* t, const task* from) noexcept;
/// Waits for a task; other work is done meanwhile. `top`: where descendants may run; null: nowhere.
void await(fiber& s, task* t, char* top) noexcept;
/// Takes a published task back. False: somebody has it.
bool reclaim(fiber& s, task* t) noexcept;
/// Runs a child of a choice point here, if nobody has begun it. False: somebody has it.
bool complete_if_unbegun(fiber& s, choice_point* r, task* t) noexcept;

}  // namespace sukima::detail
