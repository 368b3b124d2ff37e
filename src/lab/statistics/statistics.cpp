// SPDX-License-Identifier: Apache-2.0
// Order statistics and bootstrap intervals; see statistics.hpp.
#include "shared/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace sukima::lab {

double quantile(std::span<const double> sorted, double probability) {
  const double position = probability * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(position));
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  // Between two equal values, or at one, nothing is interpolated: it would not be a number where they are
  // infinite.
  if (position == std::floor(position) || sorted[below] == sorted[above]) return sorted[below];
  return std::lerp(sorted[below], sorted[above], position - std::floor(position));
}

quartiles quartiles_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {quantile(values, 0.25), quantile(values, 0.5), quantile(values, 0.75)};
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return quantile(values, 0.5);
}

interval bootstrap_median(std::span<const double> values, std::uint64_t seed) {
  constexpr std::size_t resamples = 10'000;
  std::mt19937_64 generator(seed);
  std::uniform_int_distribution<std::size_t> pick(0, values.size() - 1);
  std::vector<double> medians(resamples);
  std::vector<double> resample(values.size());
  for (double& median : medians) {
    for (double& value : resample) value = values[pick(generator)];
    std::sort(resample.begin(), resample.end());
    median = quantile(resample, 0.5);
  }
  std::sort(medians.begin(), medians.end());
  return {median_of({values.begin(), values.end()}), quantile(medians, 0.025), quantile(medians, 0.975)};
}

namespace {

/// The median of the elements of `values` at these positions. `room` is scratch.
double median_at(std::span<const double> values, std::span<const std::size_t> positions,
                 std::vector<double>& room) {
  room.clear();
  for (const std::size_t position : positions) room.push_back(values[position]);
  std::sort(room.begin(), room.end());
  return quantile(room, 0.5);
}

/// The smallest or largest of two values; not a number if one of them is none.
double extreme(double a, double b, bool largest) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  return largest ? std::max(a, b) : std::min(a, b);
}

double chosen_median(const alternatives& from, std::span<const std::size_t> positions,
                     std::vector<double>& room) {
  double chosen = median_at(from.samples.front(), positions, room);
  for (const std::vector<double>& one : from.samples)
    chosen = extreme(chosen, median_at(one, positions, room), from.largest);
  return chosen;
}

/// The interval of a ratio of samples of a size. \param ratio_at gives it for the elements at positions
template <class Ratio>
std::optional<interval> interval_of(std::size_t size, std::uint64_t seed, Ratio ratio_at) {
  constexpr std::size_t resamples = 2'000;
  std::mt19937_64 generator(seed);
  std::vector<std::size_t> positions(size);
  std::iota(positions.begin(), positions.end(), std::size_t{0});
  const double estimate = ratio_at(positions);
  if (std::isnan(estimate)) return std::nullopt;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < resamples; ++i) {
    for (std::size_t& position : positions) position = generator() % size;
    const double ratio = ratio_at(positions);
    if (std::isnan(ratio)) return std::nullopt;
    ratios.push_back(ratio);
  }
  std::sort(ratios.begin(), ratios.end());
  return interval{estimate, quantile(ratios, 0.025), quantile(ratios, 0.975)};
}

}  // namespace

std::optional<interval> bootstrap_ratio(const alternatives& left, const alternatives& right,
                                        std::uint64_t seed) {
  std::vector<double> room;
  return interval_of(left.samples.front().size(), seed, [&](std::span<const std::size_t> positions) {
    return chosen_median(left, positions, room) / chosen_median(right, positions, room);
  });
}

std::optional<interval> bootstrap_extreme_ratio(const std::vector<sample_pair>& pairs, bool largest,
                                                std::uint64_t seed) {
  std::vector<double> room;
  return interval_of(pairs.front().over.size(), seed, [&](std::span<const std::size_t> positions) {
    const auto ratio_of = [&](const sample_pair& one) {
      return median_at(one.over, positions, room) / median_at(one.under, positions, room);
    };
    double chosen = ratio_of(pairs.front());
    for (const sample_pair& one : pairs) chosen = extreme(chosen, ratio_of(one), largest);
    return chosen;
  });
}

double round_significant(double value, int digits) {
  if (value == 0 || !std::isfinite(value)) return value;
  const int exponent = static_cast<int>(std::floor(std::log10(std::fabs(value))));
  // Dividing by a power of ten is exact where multiplying by a negative one is not: 0.1 stays 0.1.
  const int shift = digits - 1 - exponent;
  const double scale = std::pow(10.0, std::abs(shift));
  return shift >= 0 ? std::round(value * scale) / scale : std::round(value / scale) * scale;
}

}  // namespace sukima::lab
