// SPDX-License-Identifier: Apache-2.0
// The plan that determines where nodes begin. Each node computes the same plan from the number of nodes,
// without messages.
#pragma once

#include "transport/transport.hpp"

#include <cstdint>

namespace sukima::cluster::hope {

/// The ranks of the nodes that begin at one place: [first, last).
struct node_group {
  node_id first = 0;
  node_id last = 0;
  friend bool operator==(const node_group&, const node_group&) = default;
};

/// Returns the part of a group that begins at one of the parts of a construct. The sizes of these groups
/// differ by at most one. If there are more parts than nodes, some parts get no node; any free node takes
/// them later.
/// \param part  index of the part, from 0, below `parts`
/// \param parts at least 1
/// \pre group.first ≤ group.last
constexpr node_group group_of_part(node_group group, std::uint32_t part, std::uint32_t parts) noexcept {
  const std::uint64_t size = group.last - group.first;
  const auto bound = [&](std::uint64_t p) { return group.first + static_cast<node_id>(size * p / parts); };
  return {bound(part), bound(part + std::uint64_t{1})};
}

/// Returns the part of a construct at which a node of the group begins: the part whose group contains the
/// node.
/// \pre group.first ≤ self < group.last, and parts is at least 1
/// Source: cluster.md of the design, section 6, `start`: the group is split over the parts of each construct
/// from the entry down until a node is alone.
constexpr std::uint32_t first_part(node_group group, node_id self, std::uint32_t parts) noexcept {
  const std::uint64_t size = group.last - group.first;
  // The largest p with size · p / parts ≤ self − first, rounded down: for the next p the bound is larger.
  return static_cast<std::uint32_t>(((std::uint64_t{self - group.first} + 1) * parts - 1) / size);
}

}  // namespace sukima::cluster::hope
