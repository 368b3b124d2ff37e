// SPDX-License-Identifier: Apache-2.0
// Finding work: what a worker does when its fiber has nothing to do.
//
// Work comes from, in this order: the worker that runs the awaited task; the injector queue (injector.hpp:
// fibers that can go on, tasks without an owner's slots); the publication slots of other workers' fibers
// (publication_slots.hpp) from a first victim on (victims.cpp); suspended fibers with splittable work
// (splittable_fibers.hpp). With settings::published_tasks 0 nothing is published ahead: a thief puts a
// request into one victim's mailbox and waits for the reply (mailbox.hpp); with settings::request_interval_us
// it asks no victim that has replied so recently. A worker that finds nothing
// requests a poll of all others, looks once more, and parks (park/park.hpp); before that it may lend its
// CPU to a worker that has work and no CPU (control/worker_placement.hpp).
#pragma once

#include <cstdint>

namespace sukima::detail {

struct fiber;
struct runtime_core;
struct task;
struct worker;

/// Work for a worker.
struct work {
  task* fresh = nullptr;  ///< a task that has not begun
  fiber* runnable = nullptr;  ///< a fiber that can go on
  explicit operator bool() const noexcept { return fresh != nullptr || runnable != nullptr; }
};

/// The work that a waiting worker may do.
enum class permitted_work {
  anything,
  /// As many fibers are parked as the settings allow: only work that needs no fiber of its own. Gives way
  /// after a while: the limit saves memory, and must not stop a program.
  limited,
  /// The fiber must stay on its thread: only descendants of the awaited task.
  thread_bound,
};

/// Something to do; empty when `awaited` is done or the worker's thread is wanted at home.
work find_work(worker& self, task* awaited, permitted_work allowed);
/// Number of the worker that is asked first, below `count`.
unsigned first_victim(worker& w, unsigned count) noexcept;
/// Asks all other workers for work. The caller is counted as searching before: their polls see that.
void request_poll_all(worker& w) noexcept;
/// Moves the tasks that a fiber has published to the injector queue: thieves would not find them on a fiber
/// that does not run.
void inject_published(fiber& s) noexcept;

}  // namespace sukima::detail
