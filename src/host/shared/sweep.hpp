// SPDX-License-Identifier: Apache-2.0
// The whole curve of the CPU use, from the estimate up, and the count that its shape gives (paper 001,
// figure 13).
#pragma once

#include <vector>

namespace sukima::host {

/// Counts `first` … `last` in interleaved rounds, down and up in turn: drift cancels.
class sweep {
 public:
  /// \param first the estimate \param effect a change of the use by less, as a logarithm, is none
  /// \param visit how many windows are measured in turn at one count; at least 1
  /// \pre 1 <= first <= last
  sweep(unsigned first, unsigned last, double effect = least_effect, unsigned visit = 1);
  /// The effect that an optimiser with a cause looks for.
  static constexpr double least_effect = 0.03;

  unsigned first() const { return first_; }
  /// The count of the next window.
  unsigned next() const;
  /// A window at `next()`. \returns whether the sweep has ended: after 6 to 12 rounds, fewer with long
  /// visits. O(counts × rounds × log rounds).
  bool add(double log_use);

  unsigned rounds() const { return rounds_; }
  /// The standard error of a point of the curve.
  double error() const { return error_; }

  struct result {
    unsigned count = 0;
    unsigned shape = 0;  ///< 1 flat, 2 rises, 3 drops, 4 oscillates; 0: too noisy to say
    double height = 0;  ///< of the use at `count`: the logarithm, relative to the estimate
  };
  /// \pre a round was added; it is more certain after the sweep has ended
  result shape() const;

 private:
  void end_round();
  double point_error() const;
  std::vector<double> curve() const;

  unsigned first_;
  double effect_;
  unsigned visit_length_;
  std::vector<double> visit_;  ///< the logarithms of the visit under way
  std::vector<std::vector<double>> logs_;  ///< for each count: less its round's median
  std::vector<double> row_;  ///< the round under way, in the order of measuring
  unsigned rounds_ = 0;
  double error_ = 0;
};

}  // namespace sukima::host
