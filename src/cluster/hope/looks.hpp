// SPDX-License-Identifier: Apache-2.0
// Determines when a node looks for tasks that others have announced. A look is useful if another node works
// inside a task that runs here, too, and has announced a part that has no name here yet. A look gives names
// to the oldest tasks here, until several consecutive ones are unknown to all other nodes.
#pragma once

#include "hope/named_task.hpp"

#include <base/shared/walk_pace.hpp>

#include <chrono>
#include <unordered_map>
#include <vector>

namespace sukima::cluster::hope {

/// The entry, or a task that a worker here has begun and not ended.
struct begun_task {
  task_key key;
  clock::time_point since;
};
/// Returns the tasks that workers are probably running: those that began last, one for each worker. The other
/// tasks wait for these, and a look inside them would find nothing.
/// Complexity: n log n for n tasks
std::vector<task_key> latest_of(std::vector<begun_task> begun, std::size_t workers);

/// The announced tasks of one entry, and the times of the looks. Only one thread may use it.
class looks {
 public:
  /// Removes the tasks of the previous entry, because another one begins. Complexity: linear in their number.
  void begin(clock::time_point now);
  /// Records that another node has announced a task that has no name here.
  /// \param within  the task of which it is a part on that node
  /// \returns whether this is the first announcement of the task
  bool add_announced(const task_key& task, const task_key& within);
  /// Removes a task, because it now has a name here.
  void has_name_here(const task_key& task);
  /// Whether announced work without a name here is inside that task.
  bool is_within(const task_key& task) const { return within_.contains(task); }

  /// Schedules the next look as early as possible.
  void begin_soon();
  clock::time_point next() const noexcept { return next_; }
  /// Records that the look has named a task that is under way or has a result.
  void found() noexcept;
  /// Records that the look has named a task that no node runs and that has no result. After a few consecutive
  /// ones the look ends.
  void missed(clock::time_point now) noexcept;
  /// Ends the look, because there are no more tasks to name.
  void end(clock::time_point now) noexcept;

  /// Returns the first invariant that does not hold, as a sentence; null: all hold. Complexity: linear in the
  /// tasks
  const char* violated_invariant() const;

 private:
  std::unordered_map<task_key, task_key, task_key_hash> unnamed_;  ///< with the task around each one
  std::unordered_map<task_key, std::size_t, task_key_hash> within_;  ///< their number inside each task
  unsigned misses_ = 0;  ///< consecutive calls of missed
  clock::time_point ended_;
  clock::time_point next_;
  std::chrono::microseconds pause_{};
  walk_pace walks_;
  friend struct test_access;
};

}  // namespace sukima::cluster::hope
