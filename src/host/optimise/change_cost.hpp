// SPDX-License-Identifier: Apache-2.0
// How much work a change of the count loses.
#pragma once

#include <cstdint>
#include <deque>

#include "shared/optimiser.hpp"

namespace sukima::host {

/// Learns the cost of a change from the windows between the change and the first settled window, which no
/// comparison uses: a program that stops while its threads or virtual CPUs change has done less there than
/// the settled window lets expect. Takes progress where the guest publishes it, else the CPU use.
class change_cost {
 public:
  /// Takes a window; they come in the order of their times. O(1).
  void see(const measured_window& window);
  /// Seconds of work that one change loses; 0 until three changes were measured.
  double seconds() const { return seconds_; }
  /// How many changes of the count the windows have shown so far.
  std::uint64_t changes() const { return changes_; }

 private:
  void remember(double lost);

  double at_ = 0;  ///< the end of the last window
  unsigned count_ = 0;  ///< of the last window; 0: there was none
  std::uint64_t changes_ = 0;
  bool measures_ = false;  ///< the count has changed, and no settled window has followed yet
  bool by_progress_ = false;  ///< the windows since the change are measured by progress
  double unsettled_seconds_ = 0, work_ = 0;  ///< of the windows since the change
  std::deque<double> lost_;  ///< seconds, by the last changes
  double seconds_ = 0;
};

}  // namespace sukima::host
