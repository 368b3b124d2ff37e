// SPDX-License-Identifier: Apache-2.0
#include "gangs.hpp"

#include <algorithm>

namespace sukima::simulation {

void gangs::begin_turn(std::uint64_t at, const std::function<bool(std::size_t)>& wants) {
  std::vector<gang*> candidates;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    all_[i].has_turn = false;
    if (wants(i)) candidates.push_back(&all_[i]);
  }
  // A guest that did not want to run for a long time gets no advantage from that.
  for (gang* const g : candidates) g->rank = std::max(g->rank, floor_);
  std::ranges::stable_sort(candidates, {}, [](const gang* g) { return g->rank; });
  if (!candidates.empty()) floor_ = candidates.front()->rank;
  std::size_t room = pcpus_;
  for (gang* const g : candidates) {
    if (g->vcpus > room && room != pcpus_) continue;
    g->has_turn = true;
    g->rank += turn_ * 1024 / g->weight;
    room -= std::min<std::size_t>(room, g->vcpus);
    if (room == 0) break;
  }
  end_ = at + turn_;
}

}  // namespace sukima::simulation
