// SPDX-License-Identifier: Apache-2.0
#include "shared/sweep.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "optimise/constants.hpp"
#include "optimise/statistics.hpp"

namespace sukima::host {

sweep::sweep(unsigned first, unsigned last, double effect, unsigned visit)
    : first_(first), effect_(effect), visit_length_(visit), logs_(last - first + 1) {}

unsigned sweep::next() const {
  const auto place = static_cast<unsigned>(row_.size());
  const auto last = static_cast<unsigned>(logs_.size()) - 1;
  return first_ + (rounds_ % 2 == 0 ? last - place : place);
}

bool sweep::add(double log_use) {
  visit_.push_back(log_use);
  if (visit_.size() < visit_length_) return false;
  row_.push_back(median(std::exchange(visit_, {})));
  if (row_.size() < logs_.size()) return false;
  end_round();
  if (rounds_ < constants::fewest_rounds) return false;
  return error_ < effect_ / 2 || rounds_ >= constants::most_rounds / visit_length_;
}

void sweep::end_round() {
  if (rounds_ % 2 == 0) std::reverse(row_.begin(), row_.end());
  const double middle = median(row_);
  error_ = 0;
  for (std::size_t i = 0; i < logs_.size(); i++) {
    logs_[i].push_back(row_[i] - middle);
    const double count = static_cast<double>(logs_[i].size());
    // 1.25: the error of a median against that of a mean.
    error_ = std::max(error_, 1.25 * deviation(logs_[i]) / std::sqrt(count));
  }
  row_.clear();
  rounds_++;
}

/// The use's logarithm at each count, relative to that at the first.
std::vector<double> sweep::curve() const {
  std::vector<double> use;
  for (const auto& logs : logs_) use.push_back(median(logs) - median(logs_[0]));
  return use;
}

sweep::result sweep::shape() const {
  const std::vector<double> use = curve();
  const double tolerance = std::max(effect_, 2 * error_);
  const auto found = [&](std::size_t i, unsigned shape) {
    return result{first_ + static_cast<unsigned>(i), shape, use[i]};
  };

  unsigned turns = 0;
  double last_large = 0;
  for (std::size_t i = 1; i < use.size(); i++) {
    const double step = use[i] - use[i - 1];
    if (std::abs(step) <= std::max(constants::large_turn, 2 * tolerance)) continue;
    if (step * last_large < 0) turns++;
    last_large = step;
  }
  if (turns >= 2) return found(0, 4);

  const auto [lowest, highest] = std::minmax_element(use.begin(), use.end());
  if (*highest <= tolerance && *lowest >= -constants::large_turn) return found(0, 1);
  const double fall = std::max(constants::large_turn / 2, tolerance);
  const auto first =
      std::find_if(use.begin(), use.end(), [&](double u) { return u > tolerance || u < -fall; });
  if (first == use.end()) return found(0, 0);
  const auto place = [&](auto&& fits) {
    return static_cast<std::size_t>(std::find_if(use.begin(), use.end(), fits) - use.begin());
  };
  if (*first > 0) {
    const double top = *highest - std::max(constants::near_top, error_);
    return found(place([&](double u) { return u >= top; }), 2);
  }
  const double bottom = *lowest + tolerance;
  return found(place([&](double u) { return u <= bottom; }), 3);
}

}  // namespace sukima::host
