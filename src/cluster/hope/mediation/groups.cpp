// SPDX-License-Identifier: Apache-2.0
#include "hope/mediation/groups.hpp"

#include <algorithm>

namespace sukima::cluster::hope {

namespace {

constexpr unsigned fewest_groups = 3;

/// Returns the smallest number whose square is at least `number`.
unsigned rounded_up_root(unsigned number) noexcept {
  unsigned root = 1;
  while (root * root < number) ++root;
  return root;
}

}  // namespace

node_groups::node_groups(unsigned nodes) noexcept : nodes_(nodes) {
  const unsigned count = std::max(fewest_groups, (rounded_up_root(nodes) + 1) / 2);
  size_ = (nodes + count - 1) / count;
}

node_id node_groups::end(unsigned group) const noexcept { return std::min(nodes_, (group + 1) * size_); }

std::optional<node_id> node_groups::mediator(unsigned group, const std::vector<bool>& gone) const {
  for (node_id node = first(group); node < end(group); ++node)
    if (!gone[node]) return node;
  return {};
}

}  // namespace sukima::cluster::hope
