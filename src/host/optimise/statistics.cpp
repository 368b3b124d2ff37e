// SPDX-License-Identifier: Apache-2.0
#include "optimise/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "optimise/constants.hpp"

namespace sukima::host {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 != 0 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double robust_mean(std::vector<double> values) {
  if (values.size() < constants::pairs_to_trim) return median(std::move(values));
  std::sort(values.begin(), values.end());
  return std::accumulate(values.begin() + 1, values.end() - 1, 0.0) / static_cast<double>(values.size() - 2);
}

double deviation(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const double count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (count - 1));
}

double noise_of(const std::vector<double>& logs) {
  std::vector<double> steps;
  for (std::size_t i = 1; i < logs.size(); i++) steps.push_back(std::abs(logs[i] - logs[i - 1]));
  return std::max(constants::least_noise, 1.06 * median(std::move(steps)));
}

}  // namespace sukima::host
