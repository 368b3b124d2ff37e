// SPDX-License-Identifier: Apache-2.0
#include "hope/plan.hpp"

namespace sukima::cluster::hope {

void plan::begin(node_id self, const std::vector<bool>& gone) {
  members_.clear();
  for (node_id n = 0; n < gone.size(); ++n) {
    if (n == self) rank_ = static_cast<node_id>(members_.size());
    if (!gone[n]) members_.push_back(n);
  }
  group_ = {0, static_cast<node_id>(members_.size())};
  enter(name_of_entry);
}

bool plan::is_first_of(node_group ranks, const std::vector<bool>& gone) const {
  while (ranks.first < ranks.last && gone[members_[ranks.first]]) ++ranks.first;
  return ranks.first < ranks.last && ranks.first == rank_;
}

}  // namespace sukima::cluster::hope
