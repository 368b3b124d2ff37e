// SPDX-License-Identifier: Apache-2.0
// Finding work for a worker whose fiber has nothing to do.
//
// A worker looks for work in this order: at the worker that runs the awaited task; in the injector queue
// (injector.hpp: fibers that can continue, tasks that are in no slots); in the publication slots of other
// workers' fibers (publication_slots.hpp), beginning with a first victim (victims.cpp); at suspended fibers
// with splittable work (splittable_fibers.hpp). If settings::published_tasks is 0, workers publish no tasks
// ahead: a thief puts a request into one victim's mailbox and waits for the reply (mailbox.hpp). With
// settings::request_interval_us it sends no request to a victim that has replied within that time. A worker
// that finds no work requests a poll of all others, looks once more, and parks (park/park.hpp). Before it
// parks, it may lend its CPU to a worker that has work and no CPU (control/worker_placement.hpp).
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
  fiber* runnable = nullptr;  ///< a fiber that can continue
  explicit operator bool() const noexcept { return fresh != nullptr || runnable != nullptr; }
};

/// The work that a waiting worker may do.
enum class permitted_work {
  anything,
  /// As many fibers are parked as the settings allow: only work that needs no fiber of its own. After a while
  /// the worker takes any work: the limit saves memory, and must not stop a program.
  limited,
  /// The fiber must stay on its thread: only descendants of the awaited task.
  thread_bound,
};

/// Returns work; empty when `awaited` is done or the worker's thread is called home.
work find_work(worker& self, task* awaited, permitted_work allowed);
/// Number of the first victim, below `count`.
unsigned first_victim(worker& w, unsigned count) noexcept;
/// Requests a poll of all other workers. The caller counts as searching before, so their polls publish work.
void request_poll_all(worker& w) noexcept;
/// Moves the tasks that a fiber has published to the injector queue: thieves would not find them on a fiber
/// that does not run.
void inject_published(fiber& s) noexcept;

}  // namespace sukima::detail
