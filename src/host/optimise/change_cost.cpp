// SPDX-License-Identifier: Apache-2.0
#include "optimise/change_cost.hpp"

#include <algorithm>
#include <utility>

#include "optimise/constants.hpp"
#include "optimise/statistics.hpp"

namespace sukima::host {

void change_cost::update(const measured_window& window) {
  const double length = window.at - std::exchange(at_, window.at);
  const unsigned before = std::exchange(count_, window.count);
  if (before != 0 && before != window.count) {
    changes_++;
    measures_ = true;
    unsettled_seconds_ = work_ = 0;
  }
  if (!measures_) return;
  const bool by_progress = window.progress.has_value();
  if (unsettled_seconds_ > 0 && by_progress != by_progress_) {  // the units differ
    measures_ = false;
    return;
  }
  by_progress_ = by_progress;
  const double rate = window.progress.value_or(window.use);
  if (!window.valid || !(rate >= 0)) {
    measures_ = false;
  } else if (!window.settled) {
    unsettled_seconds_ += length;
    work_ += rate * length;
  } else {
    measures_ = false;
    if (unsettled_seconds_ > 0 && rate > 0) remember(unsettled_seconds_ - work_ / rate);
  }
}

void change_cost::remember(double lost) {
  // If a burst has slowed down the settled window, it says little about the change before it.
  lost_.push_back(std::max(lost, -unsettled_seconds_));
  if (lost_.size() > constants::known_changes) lost_.pop_front();
  if (lost_.size() >= constants::fewest_changes)
    seconds_ = std::max(0.0, robust_mean({lost_.begin(), lost_.end()}));
}

}  // namespace sukima::host
