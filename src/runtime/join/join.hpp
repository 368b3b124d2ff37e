// SPDX-License-Identifier: Apache-2.0
// Running tasks to their ends and waiting for them (join.cpp).
#pragma once

#include "fiber/fiber.hpp"

#include <sukima/detail/ambient.hpp>

namespace sukima::detail {

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
