// SPDX-License-Identifier: Apache-2.0
// Aborting: how an exception or a cancellation stops tasks (abort.cpp).
//
// An abort does not walk down the tree of tasks. It is one word: `task::cancelled`, or `task::abort_to`, the
// oldest choice point of the task's segment that it reaches, lowered by CAS. The thread that writes it then
// requests an abort check of every worker. Each fiber looks upwards: the task that it runs, the parent, and
// so on. All of them live until they are joined. A fiber that is parked, suspended, or about to begin a task
// looks when it continues. Model: model/abort.pml.
//
// A *shield* (sukima::shielded) is an address of a segment's choice points; one inside another in the same
// segment adds nothing. While it stands, aborts of choice points below it, and of the segment's task, do not
// concern the fiber. Aborts of choice points above it have a word of their own (`task::shielded_abort_to`),
// because `abort_to` keeps only the oldest. A task that was split off above it is `shielded`: it looks no
// further up, and `abort_to` does not reach it. A thread that aborts a choice point reads the shield. The
// shield was raised before the choice point was pushed, and stands until after that is gone; or it is raised
// above the choice point, at any time.
//
// All of these words belong to one segment, and are in its task: several segments of a fiber, each with
// scopes and shields, do not affect one another.
#pragma once

#include "fiber/fiber.hpp"

namespace sukima::detail {

class cancellable_suspensions;
class node_events;
class worker_table;

/// What an abort may concern: running fibers, suspended ones, and tasks on other nodes.
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
/// Whether a shield of the running segment keeps aborts from outside away.
bool is_shielded(const fiber& s) noexcept;
/// `is_concerned`, where an exception may leave: not in a destructor that runs because of another one.
bool must_leave(const fiber& s) noexcept;
/// Whether the next join of this fiber will leave by an exception that is not a child's.
bool leaves_at_join(const fiber& s) noexcept;
/// The failure of a callback that leaves by the join of `r`; null: none. That ends it, unless a loop below
/// `r` was ended for it.
std::exception_ptr take_failure(fiber& s, const choice_point* r) noexcept;
/// Sets `abort_pending`, from which on polls at joins look closer; the next poll is slow then.
void look_for_abort(fiber& s) noexcept;
/// Leaves the running fiber's work if an abort concerns it. \throws aborted
void leave_if_aborted(fiber& s);
/// Aborts what the segment of this task does in `r` and above. `request_abort_checks` must follow.
void lower_abort(task& t, const choice_point* r) noexcept;
/// Ends an abort that reached `r`, of the running segment, and nothing older.
void clear_abort(fiber& s, const choice_point* r) noexcept;
/// Makes every worker look for an abort at its next poll. The abort was written before.
void request_abort_checks(const abort_listeners& in) noexcept;
void request_abort_checks(runtime_core& r) noexcept;
/// The owner of a task begins to wait for it. If that was split off during stack unwinding, from a choice
/// point older than the destructor, and the exception has been caught since, it is aborted with its owner
/// from now on; a task of the destructor itself is joined before the destructor returns.
void unmask(runtime_core& r, task& t) noexcept;

}  // namespace sukima::detail
