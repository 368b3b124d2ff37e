// SPDX-License-Identifier: Apache-2.0
// Whether a trial takes CPU from a neighbour.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <vector>

namespace sukima::host {

/// Compares each neighbour's share (CPU time got / entitled) in the trial's windows at another count with its
/// share in those at the resting count: these alternate, so drift cancels. A fall counts if it is larger than
/// 2 % and than some standard errors, more of them the more neighbours and windows there are: at 5 % noise a
/// trial without a fall is stopped in 0.2 % of the cases beside one neighbour, in 1.2 % beside ten. A plain
/// fall is seen in the first pair of windows.
class neighbour_guard {
 public:
  /// A window of the neighbour while no trial runs in the group: it shows the noise. A share that is not
  /// positive is dropped here and below.
  void resting(std::size_t neighbour, double share);
  /// A window of the neighbour while the trial had this count in effect.
  /// \param at_rest it was the resting count
  /// \returns whether the neighbour's share has fallen. O(windows of the trial).
  bool trial(std::size_t neighbour, unsigned count, bool at_rest, double share);
  /// The trial has ended: its windows are no longer compared.
  void end_trial();
  /// The neighbour has left the group.
  void forget(std::size_t neighbour) { histories_.erase(neighbour); }

 private:
  struct history {
    std::deque<double> before;  ///< logarithms of the shares at rest
    std::vector<double> resting;  ///< in windows of the trial
    std::map<unsigned, std::vector<double>> tried;
  };
  bool has_fallen(const history& of, const std::vector<double>& tried) const;

  std::map<std::size_t, history> histories_;
};

}  // namespace sukima::host
