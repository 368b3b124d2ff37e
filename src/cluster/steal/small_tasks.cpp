// SPDX-License-Identifier: Apache-2.0
#include "steal/small_tasks.hpp"

#include "steal/thief.hpp"

#include <algorithm>

namespace sukima::cluster {

bool small_tasks::is_far(node_id node) const { return round_trips_[node] >= thief::far_from; }

bool small_tasks::are_long_enough(clock::duration trip) const {
  if (times_.empty()) return true;
  std::vector<clock::duration> sorted = times_;
  // With an even number of times, the longer one of the two in the middle.
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle >= trip * least_round_trips;
}

void small_tasks::on_sent(node_id to, clock::time_point now) {
  if (!is_far(to)) return;
  next_ = now + std::max<clock::duration>(pause, round_trips_[to] * least_round_trips);
}

void small_tasks::on_result(node_id from, clock::duration took) {
  on_ended(std::max<clock::duration>(took - round_trips_[from], clock::duration{0}));
}

void small_tasks::on_ended(clock::duration took) {
  if (times_.size() == remembered) times_.erase(times_.begin());
  times_.push_back(took);
}

clock::time_point small_tasks::gives_from(node_id node) const {
  return !is_far(node) || are_long_enough(round_trips_[node]) ? clock::time_point{} : next_;
}

}  // namespace sukima::cluster
