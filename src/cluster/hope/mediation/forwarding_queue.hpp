// SPDX-License-Identifier: Apache-2.0
// The notes that a mediator must forward, without those that no node needs any more.
//
// The queue deletes:
//   - a result, if it has already taken the result of the task itself, or of a task around it
//   - a claim or the end of a claim, if it has taken such a result
//   - a result of an entry after another result of that entry
//   - every other note of an entry whose result it has taken
//   - a claim whose end arrives before the claim was sent
//   - a node's best solutions, if newer ones of that node arrive before these were sent
// A deleted note costs at most time: nodes may reach a task in several ways. If a result was deleted because
// a task around it has ended, a node that reached the task in another way may compute it again.
//
// Source: cluster.md of the design, section 6, "deletion".
#pragma once

#include "hope/messages.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

namespace sukima::cluster::hope {

/// A note that waits to be forwarded.
struct waiting_note {
  node_id origin = 0;  ///< the node that wrote it
  node_id from = 0;  ///< the node that sent it
  bool for_all = false;  ///< whether it is also for the other groups
  bytes content;
};

/// The notes of one mediator. Only one thread may use it.
class forwarding_queue {
 public:
  /// Adds a note, unless it is needless, and removes the notes that it makes needless. Malformed notes are
  /// dropped.
  /// \returns how many were deleted, including the added one. Complexity: linear in the waiting notes
  std::size_t add(waiting_note&& added);
  /// Records that a result was sent to all nodes in another way. \returns how many notes were deleted
  std::size_t went_to_all(const note& n);
  /// Whether the queue has taken the result of an entry.
  bool has_ended(std::uint64_t entry) const;
  bool empty() const noexcept { return waiting_.empty(); }
  /// Removes and returns all waiting notes, in the order of their arrival.
  std::vector<waiting_note> take();

 private:
  struct known_task {
    task_key within{};
    bool has_result = false;
  };
  bool is_covered(task_key task) const;
  bool is_needless(const note& n) const;
  void record(const note& n);
  /// Deletes the waiting notes that a new note makes needless. \returns how many
  std::size_t delete_waiting(const note& n, node_id origin);

  std::vector<waiting_note> waiting_;
  std::uint64_t entry_ = 0;  ///< the highest entry so far, to which the tasks below belong
  std::unordered_map<task_key, known_task, task_key_hash> tasks_;
  std::deque<std::uint64_t> ended_;  ///< the last entries whose results it has taken
};

}  // namespace sukima::cluster::hope
