// SPDX-License-Identifier: Apache-2.0
// Claims: which nodes have announced that they run which named tasks. Claims are hints: a wrong, late or
// missing claim makes a task run twice or later, and never changes a result.
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

/// The claims of other nodes. One thread.
class claims {
 public:
  /// How a task looks to this node.
  enum class state : std::uint8_t {
    free,  ///< no node has announced that it runs it
    claimed,  ///< a living node has
    orphan,  ///< the node that had is lost, and no other node has claimed the task since
  };

  /// Records that a node runs a task. If it announces that again, the earlier time holds. Claims of lost
  /// nodes are ignored.
  /// \param since when the node began, by this node's clock: the arrival less the age in the message
  void claim(const task_key& task, node_id by, clock::time_point since);
  /// Removes the claim of a node that does not run the task any more.
  void withdraw(const task_key& task, node_id by);
  /// Removes all claims of a task, because it has a result.
  void settle(const task_key& task) { tasks_.erase(task); }
  /// Removes the claims of a lost node. Tasks that only it had claimed become orphans.
  /// \returns these tasks, in the order of their keys. Complexity: linear in the number of claimed tasks
  std::vector<task_key> lose(node_id node);
  /// Accepts claims of a node that has joined.
  void gain(node_id node) {
    if (is_lost(node)) lost_[node] = false;
  }
  /// Forgets all claims: an entry has ended. Lost nodes stay lost.
  void clear() noexcept { tasks_.clear(); }

  state of(const task_key& task) const;
  /// Returns since when the first of its living claimants has claimed the task; nothing: it is not claimed.
  std::optional<clock::time_point> since(const task_key& task) const;
  /// How long two nodes have run the same task.
  struct ages {
    std::chrono::microseconds own;  ///< this node's, now
    std::chrono::microseconds announced;  ///< the other node's, when it sent its claim
    std::chrono::microseconds young;  ///< below that age a node stops for a smaller number
  };
  /// Whether this node must stop a task that another node has begun, too. It stops if it began the task only
  /// recently and another living claimant has a smaller number. It also stops if the other node began earlier
  /// and was no longer young, because that node does not stop for this one. Of two nodes at most one stops;
  /// of young ones the one with the smallest number continues.
  bool yields(const task_key& task, node_id self, const ages& a) const;
  std::size_t size() const noexcept { return tasks_.size(); }

  /// The first invariant that does not hold, as a sentence; null: all hold. Complexity: linear in the claims
  const char* violated_invariant() const;

 private:
  struct claimed_task {
    std::map<node_id, clock::time_point> claimants;  ///< living ones; none: an orphan
  };

  bool is_lost(node_id node) const { return node < lost_.size() && lost_[node]; }

  std::unordered_map<task_key, claimed_task, task_key_hash> tasks_;
  std::vector<bool> lost_;
  walk_pace walks_;
  friend struct test_access;
};

}  // namespace sukima::cluster::hope
