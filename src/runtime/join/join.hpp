// SPDX-License-Identifier: Apache-2.0
// Joining, by the state of the task: not taken (reclaim.cpp); taken and running (execute.cpp on the worker
// that has it, await.cpp on the fiber that waits); done (complete.cpp). The joins themselves, and how they
// leave when an abort or an exception concerns them, are in join.cpp.
//
// task::joining is the whole protocol. 0: not done, and nothing waits. The one fiber that waits changes it by
// CAS: to its worker, which then sleeps with the fiber in place, or to the fiber, which is parked then. The
// worker that completes the task exchanges `done` in and acts on the old value: it unparks the worker, or
// continues the fiber. Only one exchange sees the waiter, so it is resumed exactly once. After `done` the
// task is not touched again, because its owner may have freed it. A fiber is marked as parked on the stack
// that was switched to, when the switch is complete. If the task was done by then, the fiber is ready at
// once. Model: model/join.pml.
#pragma once

#include <base/shared/assert.hpp>
#include "fiber/fiber.hpp"
#include "join/joining.hpp"

#include <sukima/detail/ambient.hpp>

namespace sukima::detail {

/// How many fibers wait at joins, off their workers.
class parked_fibers {
 public:
  void add() noexcept {
    const std::size_t now = now_.fetch_add(1, std::memory_order_relaxed) + 1;
    if (now > peak_.load(std::memory_order_relaxed)) peak_.store(now, std::memory_order_relaxed);
  }
  void remove() noexcept {
    const std::size_t before = now_.fetch_sub(1, std::memory_order_relaxed);
    SUKIMA_ASSERT(before != 0, "a parked fiber was counted when it parked");
    static_cast<void>(before);
  }
  std::size_t now() const noexcept { return now_.load(std::memory_order_relaxed); }
  /// The most at a time, about.
  std::size_t peak() const noexcept { return peak_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::size_t> now_{0};  ///< no partner: it decides nothing but whether a fiber more is parked
  std::atomic<std::size_t> peak_{0};  ///< no partner: statistics only
};

/// Marks a task that this worker ran as done, and wakes its waiter. \returns the fiber that waited and that
/// the caller must continue; null: none. The task may be gone afterwards.
fiber* complete(worker& by, task* ended) noexcept;
/// The same for a task that another node has run. Any thread.
void complete_given_away(runtime_core& r, task* t) noexcept;
/// Runs a task in a segment that begins at `top`, up to its end; never throws.
void execute(fiber& self, task* begun, char* top) noexcept;
/// What execute() does before and after the first task of a fiber, for a root that was announced while it ran
/// (fiber/unannounced.hpp).
void begin_announced(fiber& self, root_task& root) noexcept;
void end_announced(fiber& self, root_task& root) noexcept;
/// Runs a task on a fiber of its own and waits for it on this one.
void run_on_new_fiber(fiber& self, root_task& root);
/// Runs a root in a runtime that this thread has already entered.
void enter_within(fiber& s, root_task& root);
/// Waits for a task and does other work until then. `top`: where descendants may run; null: nowhere.
void await(fiber& self, task* awaited, char* top) noexcept;
/// Takes a published task back out of its slot. False: another worker has it.
bool reclaim(fiber& s, task* t) noexcept;
/// Runs a child of a choice point here, if it has not begun. False: another worker has it.
bool complete_if_unbegun(fiber& s, choice_point* r, task* t) noexcept;

}  // namespace sukima::detail
