// SPDX-License-Identifier: Apache-2.0
#include "shared/sweep.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "optimise/constants.hpp"
#include "optimise/statistics.hpp"

namespace sukima::host {
namespace {

/// The first position from `i` on at which the use is within `effect` of the median from there on. The
/// maximum instead of the median would be too high because of noise.
std::size_t end_of_rise(const std::vector<double>& use, std::size_t i, double effect) {
  while (use[i] < median({use.begin() + static_cast<std::ptrdiff_t>(i), use.end()}) - effect) i++;
  return i;
}

}  // namespace

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
  if (rounds_ < constants::fewest_rounds || rounds_ * visit_length_ < constants::fewest_sweep_windows)
    return false;
  return error_ < effect_ / 2 || rounds_ >= constants::most_rounds / visit_length_;
}

void sweep::end_round() {
  if (rounds_ % 2 == 0) std::reverse(row_.begin(), row_.end());
  const double middle = median(row_);
  for (std::size_t i = 0; i < logs_.size(); i++) logs_[i].push_back(row_[i] - middle);
  row_.clear();
  rounds_++;
  error_ = point_error();
}

/// The standard error of each point. All points have the same noise, so it is computed from all windows
/// together. The farthest tenth is ignored, so that one burst does not hide a step.
double sweep::point_error() const {
  if (rounds_ < 2) return 0;
  std::vector<double> squares;
  for (const auto& logs : logs_) {
    const double level = median(logs);
    for (const double one : logs) squares.push_back((one - level) * (one - level));
  }
  std::sort(squares.begin(), squares.end());
  squares.resize(squares.size() - squares.size() / 10);
  const double mean =
      std::accumulate(squares.begin(), squares.end(), 0.0) / static_cast<double>(squares.size());
  // 1.27 corrects for the ignored tenth of normal noise. 1.25 is the ratio of the error of a median to that
  // of a mean.
  return 1.25 * 1.27 * std::sqrt(mean / (rounds_ - 1));
}

/// The logarithm of the use at each count, relative to the use at the first count.
std::vector<double> sweep::curve() const {
  std::vector<double> use;
  for (const auto& logs : logs_) use.push_back(median(logs) - median(logs_[0]));
  return use;
}

sweep::result sweep::shape() const {
  const std::vector<double> use = curve();
  const double tolerance = std::max(effect_, constants::curve_errors * error_);
  const auto found = [&](std::size_t i, unsigned shape) {
    return result{first_ + static_cast<unsigned>(i), shape, use[i]};
  };

  unsigned turns = 0;
  double last_large = 0;
  for (std::size_t i = 1; i < use.size(); i++) {
    const double step = use[i] - use[i - 1];
    if (std::abs(step) <= std::max(constants::large_turn, constants::turn_errors * error_)) continue;
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
  if (*first > 0) return found(end_of_rise(use, static_cast<std::size_t>(first - use.begin()), effect_), 2);
  const double bottom = *lowest + std::max(effect_, constants::bottom_errors * error_);
  const auto low = std::find_if(use.begin(), use.end(), [&](double u) { return u <= bottom; });
  return found(static_cast<std::size_t>(low - use.begin()), 3);
}

}  // namespace sukima::host
