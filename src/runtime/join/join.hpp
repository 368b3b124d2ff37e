// SPDX-License-Identifier: Apache-2.0
// Joining a task depends on its state: not taken (reclaim.cpp); taken and running (execute.cpp on the worker
// that runs it, await.cpp on the fiber that waits); done (complete.cpp). The joins themselves are in
// join.cpp, and so is how they leave after an abort or an exception.
//
// The protocol uses one word, task::joining. It is 0 while the task is not done and no fiber waits for it. At
// most one fiber waits. It changes the word by CAS: to its worker, which then sleeps and keeps the fiber, or
// to the fiber, which is then parked. The worker that completes the task exchanges the word for `done`, and
// acts on the old value: it unparks the worker, or continues the fiber. Only this exchange reads the waiter,
// so the waiter is resumed exactly once. After `done` no other worker touches the task, because its owner may
// have freed it. To park a fiber, its worker first switches to another stack. The code there writes the fiber
// into the word when the switch is complete. If the task is done by then, the fiber can continue at once.
// Model: model/join.pml.
#pragma once

#include <base/shared/assert.hpp>
#include "fiber/fiber.hpp"
#include "join/joining.hpp"

#include <sukima/detail/ambient.hpp>

namespace sukima::detail {

/// The number of fibers that are parked at joins.
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
  /// The largest number at a time, approximately.
  std::size_t peak() const noexcept { return peak_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::size_t> now_{0};  ///< no partner: it only decides whether one more fiber is parked
  std::atomic<std::size_t> peak_{0};  ///< no partner: statistics only
};

/// Marks a task that this worker ran as done, and wakes its waiter. \returns the waiting fiber that the
/// caller must continue; null: none. The task may be freed afterwards.
fiber* complete(worker& by, task* ended) noexcept;
/// The same for a task that another node has run. Any thread.
void complete_given_away(runtime_core& r, task* t) noexcept;
/// Runs a task in a segment that begins at `top`, up to its end; never throws.
void execute(fiber& self, task* begun, char* top) noexcept;
/// The parts of execute() before and after the first task of a fiber, for a root that was announced while it
/// ran (fiber/unannounced.hpp).
void begin_announced(fiber& self, root_task& root) noexcept;
void end_announced(fiber& self, root_task& root) noexcept;
/// Runs a task on a fiber of its own, and waits for it on the calling fiber.
void run_on_new_fiber(fiber& self, root_task& root);
/// Runs a root in a runtime that this thread has already entered.
void enter_within(fiber& s, root_task& root);
/// Waits for a task, and does other work in the meantime. `top`: where descendants of the task may run on
/// this fiber; null: nowhere.
void await(fiber& self, task* awaited, char* top) noexcept;
/// Takes a published task back out of its slot. False: another worker has it.
bool reclaim(fiber& s, task* t) noexcept;
/// Runs a child of a choice point here, if it has not begun. False: another worker has it.
bool complete_if_unbegun(fiber& s, choice_point* r, task* t) noexcept;

}  // namespace sukima::detail
