// SPDX-License-Identifier: Apache-2.0
// Measures the whole curve of CPU use, from the estimate up, and chooses a count by its shape (paper 001,
// figure 13).
#pragma once

#include <vector>

namespace sukima::host {

/// Measures the counts `first` … `last` in interleaved rounds, alternately downward and upward, so that drift
/// cancels.
class sweep {
 public:
  /// \param first the estimate
  /// \param effect the smallest change of the use that counts, as a logarithm
  /// \param visit how many consecutive windows are measured at one count; at least 1
  /// \pre 1 <= first <= last
  sweep(unsigned first, unsigned last, double effect = least_effect, unsigned visit = 1);
  /// The smallest effect that an optimiser considers when its search has a cause.
  static constexpr double least_effect = 0.03;

  unsigned first() const { return first_; }
  /// The count of the next window.
  unsigned next() const;
  /// Adds a window that was measured at `next()`. \returns whether the sweep has ended. It ends after 6 to 12
  /// rounds, or fewer with long visits. O(counts × rounds × log rounds).
  bool add(double log_use);

  unsigned rounds() const { return rounds_; }
  /// The standard error of a point of the curve.
  double error() const { return error_; }

  struct result {
    unsigned count = 0;
    unsigned shape = 0;  ///< 1 flat, 2 rises, 3 drops, 4 oscillates; 0: too noisy to decide
    double height = 0;  ///< the logarithm of the use at `count`, relative to the estimate
  };
  /// \pre at least one round was added. The result is more certain after the sweep has ended.
  result shape() const;

 private:
  void end_round();
  double point_error() const;
  std::vector<double> curve() const;

  unsigned first_;
  double effect_;
  unsigned visit_length_;
  std::vector<double> visit_;  ///< the logarithms of the current visit
  std::vector<std::vector<double>> logs_;  ///< for each count: the logarithms minus the median of their round
  std::vector<double> row_;  ///< the current round, in the order of measuring
  unsigned rounds_ = 0;
  double error_ = 0;
};

}  // namespace sukima::host
