// SPDX-License-Identifier: Apache-2.0
// Claims: announcements of nodes that they run named tasks. Claims are hints: because of a wrong, late or
// missing claim a task may run twice or later, but the result never changes.
#pragma once

#include "hope/named_task.hpp"

#include <base/shared/walk_pace.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace sukima::cluster::hope {

/// The claims of other nodes. Only one thread may use it.
class claims {
 public:
  /// The state of a task, as far as this node knows.
  enum class state : std::uint8_t {
    free,  ///< no node has announced that it runs the task
    claimed,  ///< a living node has announced it
    orphan,  ///< the node that announced it is lost, and no other node has claimed the task since
  };

  /// Records that a node runs a task. If the node has announced it before, the earlier time stays. Claims of
  /// lost nodes are ignored.
  /// \param since  when the node began, by this node's clock: the time of arrival minus the age in the
  /// message
  void claim(const task_key& task, node_id by, clock::time_point since);
  /// Removes the claim of a node that no longer runs the task.
  void withdraw(const task_key& task, node_id by);
  /// Removes all claims of a task, because its result is known.
  void settle(const task_key& task) { tasks_.erase(task); }
  /// Removes the claims of a lost node. Tasks that only this node had claimed become orphans.
  /// \returns these tasks, ordered by their keys. Complexity: linear in the number of claimed tasks
  std::vector<task_key> lose(node_id node);
  /// Accepts claims of a node that has joined.
  void gain(node_id node) {
    if (is_lost(node)) lost_[node] = false;
  }
  /// Removes all claims, because an entry has ended. Lost nodes stay lost.
  void clear() noexcept { tasks_.clear(); }

  state of(const task_key& task) const;
  /// Returns when the first of the living claimants began the task; nothing: it is not claimed.
  std::optional<clock::time_point> since(const task_key& task) const;
  /// The times for which two nodes have run the same task.
  struct ages {
    std::chrono::microseconds own;  ///< of this node, now
    std::chrono::microseconds announced;  ///< of the other node, when it sent its claim
    std::chrono::microseconds young;  ///< a younger task yields to a node with a smaller number
  };
  /// Whether this node must stop a task that another node runs, too. It stops if it began the task only
  /// recently and another living claimant has a smaller number. It also stops if the other node began earlier
  /// and the task there was no longer young, because that node does not stop. At most one of two nodes stops.
  /// If the task is young on both, the node with the smaller number continues.
  bool yields(const task_key& task, node_id self, const ages& a) const;
  std::size_t size() const noexcept { return tasks_.size(); }

  /// Returns the first invariant that does not hold, as a sentence; null: all hold. Complexity: linear in the
  /// claims
  const char* violated_invariant() const;

 private:
  struct claimed_task {
    std::map<node_id, clock::time_point> claimants;  ///< living nodes; empty: an orphan
  };

  bool is_lost(node_id node) const { return node < lost_.size() && lost_[node]; }

  std::unordered_map<task_key, claimed_task, task_key_hash> tasks_;
  std::vector<bool> lost_;
  walk_pace walks_;
  friend struct test_access;
};

}  // namespace sukima::cluster::hope
