// SPDX-License-Identifier: Apache-2.0
// Detects that a trial takes CPU from a neighbour.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <vector>

namespace sukima::host {

/// Compares each neighbour's share (CPU time got / entitled) in the trial's windows at another count with its
/// share in the trial's windows at the resting count. These alternate, so drift cancels. A fall counts if it
/// is larger than 2 % and larger than some standard errors; the number of these grows with the number of
/// neighbours and windows. At 5 % noise, a trial that causes no fall is stopped in 0.2 % of the cases with
/// one neighbour, and in 1.2 % with ten. A clear fall is detected in the first pair of windows.
class neighbour_guard {
 public:
  /// Takes a window of the neighbour from a time without a trial in the group, to measure the noise. Shares
  /// that are not positive are dropped, here and below.
  void resting(std::size_t neighbour, double share);
  /// Takes a window of the neighbour from a time in which the trial had this count in effect.
  /// \param at_rest whether it was the resting count
  /// \returns whether the neighbour's share has fallen. O(windows of the trial).
  bool trial(std::size_t neighbour, unsigned count, bool at_rest, double share);
  /// Ends the trial: later windows are not compared with its windows.
  void end_trial();
  /// Removes a neighbour that has left the group.
  void forget(std::size_t neighbour) { histories_.erase(neighbour); }

 private:
  struct history {
    std::deque<double> before;  ///< the logarithms of the shares at rest
    std::vector<double> resting;  ///< in windows of the trial at the resting count
    std::map<unsigned, std::vector<double>> tried;
  };
  bool has_fallen(const history& of, const std::vector<double>& tried) const;

  std::map<std::size_t, history> histories_;
};

}  // namespace sukima::host
