// SPDX-License-Identifier: Apache-2.0
// One trial: compares two counts by pairs of windows. Pairs cancel drift and phases of some seconds.
#pragma once

#include <optional>
#include <vector>

#include "optimise/constants.hpp"

namespace sukima::host {

/// The result of comparing the other count with the resting one.
enum class comparison_outcome { better, worse, same };

/// Compares a count with the resting one in visits of some windows. The order is: resting, other | other,
/// resting | resting, …
class comparison {
 public:
  /// \param noise the standard deviation of a window's logarithm
  /// \param visit how many consecutive windows are measured at one count; at least 1
  comparison(unsigned resting, unsigned other, constants::criterion by, double noise, unsigned visit = 1)
      : resting_(resting), other_(other), by_(by), noise_(noise), visit_length_(visit) {}

  unsigned resting() const { return resting_; }
  unsigned other() const { return other_; }
  /// The count of the next window.
  unsigned next() const { return (visits_ % 4 == 0 || visits_ % 4 == 3) ? resting_ : other_; }

  /// Adds a window that was measured at `next()`. Decides after 2 to 12 pairs of visits, or in the first pair
  /// if the other count is far worse. O(pairs).
  /// \param log_rate the logarithm of the window's rate
  std::optional<comparison_outcome> add(double log_rate);

  unsigned pairs() const { return static_cast<unsigned>(ratios_.size()); }
  /// The mean of log(rate at other / rate at resting): of 2 to 4 pairs the median, of more pairs the mean
  /// without the extremes.
  double mean() const { return mean_; }
  /// The standard error of the mean; at least what the noise predicts.
  double error() const { return error_; }
  const constants::criterion& by() const { return by_; }

 private:
  std::optional<comparison_outcome> judge();
  bool is_far_worse(double mean) const;

  unsigned resting_, other_;
  constants::criterion by_;
  double noise_;
  unsigned visit_length_;
  unsigned visits_ = 0;
  std::vector<double> visit_;  ///< the logarithms of the current visit
  double first_of_pair_ = 0;
  std::vector<double> ratios_;
  double mean_ = 0, error_ = 0;
};

}  // namespace sukima::host
