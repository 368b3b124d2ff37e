// SPDX-License-Identifier: Apache-2.0
// Measures how much work a change of the count costs.
#pragma once

#include <cstdint>
#include <deque>

#include "shared/optimiser.hpp"

namespace sukima::host {

/// Measures the cost of a change from the windows between the change and the first settled window, which no
/// comparison uses. A program that stops while its threads or virtual CPUs change does less work there than
/// the settled window predicts. It uses progress if the guest publishes it, otherwise the CPU use.
class change_cost {
 public:
  /// Takes the next window, in order of time. O(1).
  void update(const measured_window& window);
  /// Seconds of work that one change costs; 0 until three changes were measured.
  double seconds() const { return seconds_; }
  /// The number of changes of the count that the windows have shown so far.
  std::uint64_t changes() const { return changes_; }

 private:
  void remember(double lost);

  double at_ = 0;  ///< the end of the latest window
  unsigned count_ = 0;  ///< the count of the latest window; 0: there was none
  std::uint64_t changes_ = 0;
  bool measures_ = false;  ///< the count has changed, and no settled window has followed yet
  bool by_progress_ = false;  ///< the windows since the change are measured by progress
  double unsettled_seconds_ = 0, work_ = 0;  ///< sums over the windows since the change
  std::deque<double> lost_;  ///< seconds, for the latest changes
  double seconds_ = 0;
};

}  // namespace sukima::host
