// SPDX-License-Identifier: Apache-2.0
#include "optimise/comparison.hpp"

#include <algorithm>
#include <cmath>

#include "optimise/statistics.hpp"

namespace sukima::host {

std::optional<comparison_outcome> comparison::add(double log_rate) {
  const bool of_other = next() == other_;
  visit_.push_back(log_rate);
  const double level = median(visit_);
  // Leave a count that is far worse at once, even in the middle of its first visit.
  const bool ends = pairs() == 0 && visits_ == 1 && is_far_worse(level - first_of_pair_);
  if (visit_.size() < visit_length_ && !ends) return std::nullopt;
  visit_.clear();
  if (visits_++ % 2 == 0) {
    first_of_pair_ = level;
    return std::nullopt;
  }
  ratios_.push_back(of_other ? level - first_of_pair_ : first_of_pair_ - level);
  return judge();
}

bool comparison::is_far_worse(double mean) const { return mean < constants::abort_below - noise_; }

std::optional<comparison_outcome> comparison::judge() {
  using enum comparison_outcome;
  const unsigned count = pairs();
  mean_ = robust_mean(ratios_);
  const double expected = noise_ * std::sqrt(2.0 / visit_length_) * constants::least_pair_noise;
  error_ = std::max(deviation(ratios_), expected) / std::sqrt(static_cast<double>(count));
  if (count == 1 && is_far_worse(mean_)) return worse;
  if (count < constants::fewest_pairs) return std::nullopt;
  const double margin = by_.errors * error_;
  if (mean_ > by_.effect && mean_ > margin) return better;
  if (mean_ < -by_.effect && -mean_ > margin) return worse;
  if (mean_ + margin < 1.5 * by_.effect || count == constants::most_pairs) return same;
  return std::nullopt;
}

}  // namespace sukima::host
