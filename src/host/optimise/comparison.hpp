// SPDX-License-Identifier: Apache-2.0
// One trial: two counts, compared by pairs of windows. Pairs cancel drift and phases of some seconds.
#pragma once

#include <optional>
#include <vector>

#include "optimise/constants.hpp"

namespace sukima::host {

/// How the other count compares with the resting one.
enum class comparison_outcome { better, worse, same };

/// Compares a count with the resting one: windows in the order resting, other | other, resting | resting, …
class comparison {
 public:
  /// \param noise the standard deviation of a window's logarithm
  comparison(unsigned resting, unsigned other, constants::criterion by, double noise)
      : resting_(resting), other_(other), by_(by), noise_(noise) {}

  unsigned resting() const { return resting_; }
  unsigned other() const { return other_; }
  /// The count of the next window.
  unsigned next() const { return (windows_ % 4 == 0 || windows_ % 4 == 3) ? resting_ : other_; }

  /// A window at `next()`. Decides after 2 to 12 pairs; after the first, if that is far worse. O(pairs).
  /// \param log_rate the logarithm of its rate
  std::optional<comparison_outcome> add(double log_rate);

  unsigned pairs() const { return static_cast<unsigned>(ratios_.size()); }
  /// Of log(rate at other / rate at resting); the median of 2 to 4, of more without the extremes.
  double mean() const { return mean_; }
  /// Of the mean; at least what the noise lets expect.
  double error() const { return error_; }
  const constants::criterion& by() const { return by_; }

 private:
  std::optional<comparison_outcome> judge();

  unsigned resting_, other_;
  constants::criterion by_;
  double noise_;
  unsigned windows_ = 0;
  double first_of_pair_ = 0;
  std::vector<double> ratios_;
  double mean_ = 0, error_ = 0;
};

}  // namespace sukima::host
