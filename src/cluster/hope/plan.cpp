// SPDX-License-Identifier: Apache-2.0
#include "hope/plan.hpp"

#include <base/shared/assert.hpp>

#include <algorithm>
#include <functional>

namespace sukima::cluster::hope {

void plan::begin(node_id self, const std::vector<bool>& gone) {
  members_.clear();
  for (node_id n = 0; n < gone.size(); ++n) {
    if (n == self) rank_ = static_cast<node_id>(members_.size());
    if (!gone[n]) members_.push_back(n);
  }
  group_ = {0, static_cast<node_id>(members_.size())};
  enter(name_of_entry);
  SUKIMA_ASSERT_VALID(*this);
}

void plan::follow(unsigned part) noexcept {
  group_ = group_of_part(group_, part, 2);
  SUKIMA_ASSERT_VALID(*this);
}

const char* plan::violated_invariant() const {
  if (std::ranges::adjacent_find(members_, std::greater_equal{}) != members_.end())
    return "each node has one rank, in the order of their numbers";
  if (group_.first > group_.last || group_.last > members_.size())
    return "a group consists of ranks of nodes that lived when the entry began";
  if (group_ != node_group{} && (rank_ < group_.first || rank_ >= group_.last))
    return "this node is in the group that begins where the plan has led";
  return nullptr;
}

bool plan::is_first_of(node_group ranks, const std::vector<bool>& gone) const {
  while (ranks.first < ranks.last && gone[members_[ranks.first]]) ++ranks.first;
  return ranks.first < ranks.last && ranks.first == rank_;
}

}  // namespace sukima::cluster::hope
