// SPDX-License-Identifier: Apache-2.0
#include "optimise/comparison.hpp"

#include <algorithm>
#include <cmath>

#include "optimise/statistics.hpp"

namespace sukima::host {

std::optional<comparison_outcome> comparison::add(double log_rate) {
  const bool of_other = next() == other_;
  if (windows_++ % 2 == 0) {
    first_of_pair_ = log_rate;
    return std::nullopt;
  }
  ratios_.push_back(of_other ? log_rate - first_of_pair_ : first_of_pair_ - log_rate);
  return judge();
}

std::optional<comparison_outcome> comparison::judge() {
  using enum comparison_outcome;
  const unsigned count = pairs();
  mean_ = robust_mean(ratios_);
  const double expected = noise_ * std::sqrt(2.0) * constants::least_pair_noise;
  error_ = std::max(deviation(ratios_), expected) / std::sqrt(static_cast<double>(count));
  if (count == 1 && mean_ < constants::abort_below - noise_) return worse;
  if (count < constants::fewest_pairs) return std::nullopt;
  const double margin = by_.errors * error_;
  if (mean_ > by_.effect && mean_ > margin) return better;
  if (mean_ < -by_.effect && -mean_ > margin) return worse;
  if (mean_ + margin < 1.5 * by_.effect || count == constants::most_pairs) return same;
  return std::nullopt;
}

}  // namespace sukima::host
