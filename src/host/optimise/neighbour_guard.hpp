// SPDX-License-Identifier: Apache-2.0
// Whether a trial takes CPU from a neighbour.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <vector>

namespace sukima::host {

/// Compares each neighbour's share (CPU time got / entitled) while a count is tried with its share at the resting
/// count: in windows of the trial, and in those just before. Noise of some per cent is usual, so a fall must be
/// larger than 2 % and than 2.6 standard errors; two windows suffice where the fall is plain.
class neighbour_guard {
 public:
  /// A window of the neighbour while no trial runs in the group. A share that is not positive is dropped.
  void resting(std::size_t neighbour, double share);
  /// A window of the neighbour while the trial had this count in effect.
  /// \param at_rest it was the resting count
  /// \returns whether the neighbour's share has fallen. O(windows of the trial).
  bool trial(std::size_t neighbour, unsigned count, bool at_rest, double share);
  /// The trial has ended, and this is the resting count now: shares at other counts are dropped.
  void end_trial(unsigned resting_count);
  /// The neighbour has left the group.
  void forget(std::size_t neighbour) { shares_.erase(neighbour); }

 private:
  struct history {
    std::deque<double> before;  ///< logarithms of the shares
    std::vector<double> resting;  ///< in windows of the trial
    std::map<unsigned, std::vector<double>> tried;
  };
  std::map<std::size_t, history> shares_;
};

}  // namespace sukima::host
