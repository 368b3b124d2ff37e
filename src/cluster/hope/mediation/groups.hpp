// SPDX-License-Identifier: Apache-2.0
// Which nodes are mediators: nodes with consecutive numbers form a group, and the first living node of a
// group is its mediator.
//
// In each interval the m mediators of n nodes send m(m - 1) bundles to each other, and at most 2(n - m)
// bundles go between them and their nodes. So there are few groups, about half the root of n, and each
// mediator sends to about 2 √n nodes. There are at least three groups, so that a mediator with all notes is
// left if two are lost at the same time.
#pragma once

#include "transport/transport.hpp"

#include <optional>
#include <vector>

namespace sukima::cluster::hope {

/// The groups of a cluster. They depend only on the number of nodes, so they are the same on all nodes.
class node_groups {
 public:
  /// \pre nodes > 0
  explicit node_groups(unsigned nodes) noexcept;

  unsigned count() const noexcept { return (nodes_ + size_ - 1) / size_; }
  unsigned of(node_id node) const noexcept { return node / size_; }
  /// The first node of a group, and the node after its last one.
  node_id first(unsigned group) const noexcept { return group * size_; }
  node_id end(unsigned group) const noexcept;
  /// Returns the mediator of a group; nothing: all of its nodes are gone. Complexity: linear in the size of
  /// the group.
  std::optional<node_id> mediator(unsigned group, const std::vector<bool>& gone) const;

 private:
  unsigned nodes_;
  unsigned size_;
};

}  // namespace sukima::cluster::hope
