// SPDX-License-Identifier: Apache-2.0
// The planned start of an entry, as one node follows it. At each construct, half of the nodes take the first
// part and the others the second part, until each node is alone (planned_start.hpp).
#pragma once

#include "hope/messages.hpp"
#include "hope/planned_start.hpp"

#include <cstddef>
#include <vector>

namespace sukima::cluster::hope {

/// Only one thread may use it.
class plan {
 public:
  /// Begins the plan of an entry for the living nodes.
  void begin(node_id self, const std::vector<bool>& gone);
  /// Ends the plan.
  void end() noexcept { group_ = {}; }
  /// Returns the first invariant that does not hold, as a sentence; null: all hold. Complexity: linear in the
  /// nodes
  const char* violated_invariant() const;

  /// Whether other nodes still begin at the same place as this node.
  bool is_under_way() const noexcept { return group_.last - group_.first > 1; }
  /// Whether the plan leads this node to the second part of the next construct.
  bool takes_second() const noexcept { return first_part(group_, rank_, 2) == 1; }
  /// The ranks of the nodes that begin at the same place as this node.
  node_group group() const noexcept { return group_; }
  /// The node that runs the first part of the next construct, and then waits for the second one.
  node_id leader_of_first() const { return members_[group_.first]; }
  /// The node that runs the second part of the next construct.
  node_id leader_of_second() const { return members_[group_of_part(group_, 1, 2).first]; }
  /// Follows the part to which the rank of this node leads. \param part  0 or 1
  void follow(unsigned part) noexcept;

  /// The place that the plan has reached: the entry, or a unit.
  const task_key& place() const noexcept { return place_; }
  bool has_begun() const noexcept { return has_begun_; }
  /// Continues the plan in a unit that no worker has begun.
  void enter(const task_key& place) noexcept {
    place_ = place;
    has_begun_ = false;
  }
  /// Records that a worker has begun the task at the place.
  void begun() noexcept { has_begun_ = true; }

  /// Whether this node is the first living node of these ranks, so that it continues where they began.
  bool is_first_of(node_group ranks, const std::vector<bool>& gone) const;

 private:
  std::vector<node_id> members_;  ///< the nodes that lived when the entry began
  node_id rank_ = 0;  ///< the index of this node in `members_`
  node_group group_{};
  task_key place_{};
  bool has_begun_ = false;
  friend struct test_access;
};

}  // namespace sukima::cluster::hope
