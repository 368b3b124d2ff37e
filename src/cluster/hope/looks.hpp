// SPDX-License-Identifier: Apache-2.0
// When a node looks for tasks that others have announced. Another node is working inside a task that runs
// here, too, and has named a part that has no name here yet. A look names the oldest tasks here, until
// several in a row are known to no other node.
#pragma once

#include "hope/named_task.hpp"

#include <base/shared/walk_pace.hpp>

#include <chrono>
#include <unordered_map>
#include <vector>

namespace sukima::cluster::hope {

/// The entry or a task that has begun here and has not ended.
struct begun_task {
  task_key key;
  clock::time_point since;
};
/// Returns the units that workers are probably running: those that began last, one for each worker. The other
/// units wait for these, and a look within them would find nothing.
/// Complexity: n log n for n tasks
std::vector<task_key> latest_of(std::vector<begun_task> begun, std::size_t workers);

/// The announced tasks of one entry, and the times of the looks. One thread.
class looks {
 public:
  /// Forgets the last entry, because another one begins. Linear in the notes of the last one.
  void begin(clock::time_point now);
  /// Records that another node has announced a task that has no name here.
  /// \param within  the task that it is within there
  /// \returns whether no node has announced it before
  bool add_announced(const task_key& task, const task_key& within);
  /// Forgets a task that has a name here from now on.
  void has_name_here(const task_key& task);
  /// Whether work without a name is within that task.
  bool is_within(const task_key& task) const { return within_.contains(task); }

  /// Lets the next look begin as early as possible.
  void begin_soon();
  clock::time_point next() const noexcept { return next_; }
  /// Records that the look has named a task of interest.
  void found() noexcept;
  /// Records that the look has named a task of no interest. After a few of them in a row the look ends.
  void found_in_vain(clock::time_point now) noexcept;
  /// Ends the look, because there is nothing more to name.
  void end(clock::time_point now) noexcept;

  /// The first invariant that does not hold, as a sentence; null: all hold. Complexity: linear in the tasks
  const char* violated_invariant() const;

 private:
  std::unordered_map<task_key, task_key, task_key_hash> unnamed_;  ///< and what each is within
  std::unordered_map<task_key, std::size_t, task_key_hash> within_;  ///< how many are within each
  unsigned in_vain_ = 0;  ///< in a row
  clock::time_point ended_;
  clock::time_point next_;
  std::chrono::microseconds pause_{};
  walk_pace walks_;
  friend struct test_access;
};

}  // namespace sukima::cluster::hope
