// SPDX-License-Identifier: Apache-2.0
// Aborting: how an exception or a cancellation stops tasks (abort.cpp).
//
// An abort does not walk down the tree of tasks. It writes one word: `task::cancelled`, or `task::abort_to`,
// which is the oldest choice point of the task's segment that the abort reaches, lowered by CAS. The thread
// that writes it then requests an abort check of every worker. Each fiber checks upwards: the task that it
// runs, the parent, and so on. All these tasks live until they are joined. A fiber that is parked, suspended,
// or about to begin a task checks when it continues. Model: model/abort.pml.
//
// A *shield* (sukima::shielded) is an address in a segment's choice stack; a shield inside another one in the
// same segment has no effect. While it is raised, aborts of choice points below it, and of the segment's
// task, do not affect the fiber. Aborts of choice points above it have a word of their own
// (`task::shielded_abort_to`), because `abort_to` stores only the oldest. A task that was split off above it
// is `shielded`: its check does not go further up, and `abort_to` does not reach it. A thread that aborts a
// choice point reads the shield. Either the shield was raised before the choice point was pushed, and stays
// until after the choice point has been popped, or it is raised above the choice point, at any time.
//
// All of these words belong to one segment, and are in its task. So segments of one fiber, each with scopes
// and shields, do not affect one another.
#pragma once

#include "fiber/fiber.hpp"

namespace sukima::detail {

class cancellable_suspensions;
class node_events;
class worker_table;

/// What an abort may reach: running fibers, suspended fibers, and tasks on other nodes.
struct abort_listeners {
  const worker_table& workers;
  cancellable_suspensions& suspensions;
  node_events& remote;
};

/// Whether the task that this fiber runs, one of its ancestors, or a choice point of its running segment was
/// aborted.
bool is_concerned(const fiber& s) noexcept;
/// Whether the task that it runs was aborted, or one of its ancestors.
bool is_task_concerned(const fiber& s) noexcept;
/// The same of a task that came from another one.
bool is_descendant_concerned(const task* t) noexcept;
/// The same of any task that has not ended.
inline bool is_task_concerned(const task* t) noexcept {
  if (t == nullptr || t->parent != nullptr || t->owner != nullptr) return is_descendant_concerned(t);
  return t->cancelled.load(std::memory_order_acquire);
}
/// Whether a shield of the running segment holds off aborts from outside.
bool is_shielded(const fiber& s) noexcept;
/// The same as `is_concerned`, but false where no exception may be thrown: in a destructor that runs because
/// of another exception.
bool must_leave(const fiber& s) noexcept;
/// Whether the next join of this fiber will throw an exception that is not a child's.
bool leaves_at_join(const fiber& s) noexcept;
/// Takes the failure of a callback that the join of `r` must throw; null: none. It is no longer pending then,
/// unless a loop below `r` was ended for it.
std::exception_ptr take_failure(fiber& s, const choice_point* r) noexcept;
/// Sets `abort_pending`, so that polls at joins check for aborts, and makes the next poll slow.
void look_for_abort(fiber& s) noexcept;
/// \throws aborted if an abort reaches the running fiber
void leave_if_aborted(fiber& s);
/// Aborts the work of this task's segment in `r` and above. `request_abort_checks` must follow.
void lower_abort(task& t, const choice_point* r) noexcept;
/// Ends an abort that reached `r`, of the running segment, and nothing older.
void clear_abort(fiber& s, const choice_point* r) noexcept;
/// Makes every worker check for an abort at its next poll. The abort must have been written before.
void request_abort_checks(const abort_listeners& in) noexcept;
void request_abort_checks(runtime_core& r) noexcept;
/// Called when the owner of a task begins to wait for it. The task may have been split off during stack
/// unwinding, from a choice point older than the destructor, and the exception may have been caught since.
/// Then aborts of the owner reach the task from now on. (A task of the destructor itself is joined before the
/// destructor returns.)
void unmask(runtime_core& r, task& t) noexcept;

}  // namespace sukima::detail
