// SPDX-License-Identifier: Apache-2.0
// Task groups: children in a list of the group, run by the fibers that wait for it and by servers.
//
// A server is a task that takes children from its group's list until none is left. A fiber that adds a child
// ensures that one server is in the runtime's injector queue, where idle workers look for work. A server that
// takes a child puts the next server into the queue if there are more children. So a child costs only the
// group's lock, and the runtime's queue gets only one server for each idle worker. The number of servers that
// have begun has no limit: their children may be suspended until a child that has not begun resumes them. A
// child runs in a segment of its own (`execute`), on a server's fiber or on a waiter's; the worker that ran
// it frees it.
//
// Aborting: a child's parent is the group's anchor, a task that no worker runs. The anchor's owner and origin
// are the fiber and the scope choice point of the group, so an abort from outside reaches the children as it
// reaches those of a fork. The anchor's `cancelled` is that of the group. A child has no origin of its own:
// when a child throws, the fiber that made the group continues until it waits.
//
// Waiting: if a fiber finds no child to run, but other fibers run some, it suspends itself. The worker that
// ends the last child, and a fiber that adds a child, take the waiters out of the list under the lock, and
// resume them after they have released it. So each waiter is resumed exactly once. The group lives until its
// servers are done; they are joined like any task.
#pragma once

#include <base/shared/assert.hpp>
#include "choice/covered_segment.hpp"
#include "fiber/fiber.hpp"
#include "join/join.hpp"

#include <sukima/context.hpp>
#include <sukima/detail/group.hpp>
#include <sukima/suspend.hpp>

#include <atomic>
#include <cstddef>
#include <deque>
#include <exception>
#include <mutex>

namespace sukima::detail {

/// A fiber that waits for a group, in its own frame.
struct group_waiter {
  resumer resume;
  group_waiter* next = nullptr;
};

struct group_server : task {
  group_core* group = nullptr;
  group_server* next_ended = nullptr;  ///< under the group's lock
};

struct group_core {
  runtime_core* runtime = nullptr;
  task anchor;
  char* handed_before = nullptr;  ///< ambient_state::handed of the code that made the group

  std::mutex lock;  // the rest
  group_child* oldest = nullptr;
  group_child* newest = nullptr;
  std::size_t pending = 0;  ///< in the list
  std::size_t unfinished = 0;  ///< added and not ended
  group_waiter* waiting = nullptr;
  std::exception_ptr error;  ///< the first exception of a child
  std::deque<group_server> servers;
  group_server* queued = nullptr;  ///< the server that has not begun, or was aborted before it began
  std::size_t cancellations = 0;  ///< that a call of wait has seen, for those that wait at the same time
  [[maybe_unused]] bool out_of_memory = false;  ///< for one more server, once
  group_server* first_ended = nullptr;  ///< servers that found no more children, in the order of their ends
  group_server* last_ended = nullptr;

  void push(group_child* child) noexcept {
    child->before = newest;
    child->after = nullptr;
    (newest != nullptr ? newest->after : oldest) = child;
    newest = child;
    ++pending;
  }
  group_child* remove(group_child* child) noexcept {
    if (child == nullptr) return nullptr;
    (child->before != nullptr ? child->before->after : oldest) = child->after;
    (child->after != nullptr ? child->after->before : newest) = child->before;
    --pending;
    return child;
  }
  /// Under the lock, after a server was queued if one was wanted.
  void check() const noexcept {
    SUKIMA_ASSERT((pending == 0) == (oldest == nullptr), "a group's pending children are those in its list");
    SUKIMA_ASSERT(unfinished >= pending, "a child that waits has not ended");
    SUKIMA_ASSERT(pending == 0 || out_of_memory || queued != nullptr, "children have a server queued");
  }
  bool cancelled() const noexcept { return anchor.cancelled.load(std::memory_order_acquire); }

  enum class order { oldest, newest };
  group_child* take(order which) noexcept;
  void add_ended(group_server* server) noexcept;
  group_server* ended_server() noexcept;
  group_server* wanted_server() noexcept;
  void link_child(task& t) const noexcept;
  void end(group_child* child) noexcept;
  void fail(std::exception_ptr e) noexcept;
  void run(fiber& s, group_child* child, char* top) noexcept;
  void run_children(context c);
  std::size_t cancellations_so_far();
  bool finish_waiting(std::size_t before);
  void discard_pending() noexcept;
  void wait_for_others(char* top);
};

}  // namespace sukima::detail
