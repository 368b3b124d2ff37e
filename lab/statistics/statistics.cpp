// SPDX-License-Identifier: Apache-2.0
// Order statistics and bootstrap intervals; see statistics.hpp.
#include "shared/statistics.hpp"

#include <base/shared/assert.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>

namespace sukima::lab {

double quantile(std::span<const double> sorted, double probability) {
  SUKIMA_ASSERT(!sorted.empty() && std::ranges::is_sorted(sorted), "a quantile is of an ascending sample");
  SUKIMA_ASSERT(probability >= 0 && probability <= 1, "a probability is from 0 to 1");
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

/// Which of several counts in the even and in the odd rounds, as the other half of the rounds says. Chosen by
/// the rounds that it is judged by, the smallest of several equal ones would seem smaller than they are.
/// \param value_at gives the value of one of them at positions
/// \returns nothing if one of the values is not a number
template <class Value>
std::optional<std::array<std::size_t, 2>> choose_by_halves(std::size_t count, std::size_t size, bool largest,
                                                           Value value_at) {
  std::array<std::size_t, 2> chosen{};
  for (std::size_t half = 0; half < 2; ++half) {
    std::vector<std::size_t> others;
    for (std::size_t i = 0; i < size; ++i)
      if (i % 2 != half || size == 1) others.push_back(i);
    double extreme = 0;
    for (std::size_t which = 0; which < count; ++which) {
      const double value = value_at(which, others);
      if (std::isnan(value)) return std::nullopt;
      if (which > 0 && !(largest ? value > extreme : value < extreme)) continue;
      extreme = value;
      chosen[half] = which;
    }
    SUKIMA_ASSERT(!others.empty(), "each half of the rounds is judged by others");
  }
  return chosen;
}

/// The values that count, one for each round. Medians are always numbers.
std::vector<double> counting_values(const alternatives& from) {
  SUKIMA_ASSERT(std::ranges::all_of(
                    from.samples, [&](const auto& one) { return one.size() == from.samples.front().size(); }),
                "the samples of a comparison are of the same rounds");
  std::vector<double> room, values;
  const auto chosen = choose_by_halves(from.samples.size(), from.samples.front().size(), from.largest,
                                       [&](std::size_t which, std::span<const std::size_t> positions) {
                                         return median_at(from.samples[which], positions, room);
                                       });
  for (std::size_t i = 0; chosen && i < from.samples.front().size(); ++i)
    values.push_back(from.samples[(*chosen)[i % 2]][i]);
  return values;
}

double ratio_at(const sample_pair& of, std::span<const std::size_t> positions, std::vector<double>& room) {
  return median_at(of.over, positions, room) / median_at(of.under, positions, room);
}

/// The estimate of a ratio with its interval.
/// \param size  of the samples
/// \param ratio gives the ratio at positions
template <class Ratio>
std::optional<interval> interval_of(std::size_t size, std::uint64_t seed, Ratio ratio) {
  constexpr std::size_t resamples = 2'000;
  std::mt19937_64 generator(seed);
  std::vector<std::size_t> positions(size);
  std::iota(positions.begin(), positions.end(), std::size_t{0});
  const double estimate = ratio(positions);
  if (std::isnan(estimate)) return std::nullopt;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < resamples; ++i) {
    for (std::size_t& position : positions) position = generator() % positions.size();
    ratios.push_back(ratio(positions));
    if (std::isnan(ratios.back())) return std::nullopt;
  }
  std::sort(ratios.begin(), ratios.end());
  return interval{estimate, quantile(ratios, 0.025), quantile(ratios, 0.975)};
}

std::optional<interval> interval_of(const sample_pair& of, std::uint64_t seed) {
  SUKIMA_ASSERT(of.over.size() == of.under.size(), "the two samples of a ratio are of the same rounds");
  std::vector<double> room;
  return interval_of(of.over.size(), seed,
                     [&](std::span<const std::size_t> positions) { return ratio_at(of, positions, room); });
}

/// The pair that counts in each round; nothing if one of the ratios is undefined.
std::optional<sample_pair> counting_pair(const std::vector<sample_pair>& pairs, bool largest) {
  std::vector<double> room;
  const auto chosen = choose_by_halves(pairs.size(), pairs.front().over.size(), largest,
                                       [&](std::size_t which, std::span<const std::size_t> positions) {
                                         return ratio_at(pairs[which], positions, room);
                                       });
  if (!chosen) return std::nullopt;
  sample_pair counting;
  for (std::size_t i = 0; i < pairs.front().over.size(); ++i) {
    counting.over.push_back(pairs[(*chosen)[i % 2]].over[i]);
    counting.under.push_back(pairs[(*chosen)[i % 2]].under[i]);
  }
  return counting;
}

}  // namespace

std::optional<interval> bootstrap_ratio(const alternatives& left, const alternatives& right,
                                        std::uint64_t seed) {
  return interval_of({counting_values(left), counting_values(right)}, seed);
}

std::optional<interval> bootstrap_extreme_ratio(const std::vector<sample_pair>& pairs, bool largest,
                                                std::uint64_t seed) {
  const std::optional<sample_pair> counting = counting_pair(pairs, largest);
  return counting ? interval_of(*counting, seed) : std::nullopt;
}

std::optional<interval> bootstrap_ratio_of_extremes(const std::vector<sample_pair>& left,
                                                    const std::vector<sample_pair>& right, bool largest,
                                                    std::uint64_t seed) {
  const std::optional<sample_pair> over = counting_pair(left, largest);
  const std::optional<sample_pair> under = counting_pair(right, largest);
  if (!over || !under) return std::nullopt;
  std::vector<double> room;
  SUKIMA_ASSERT(over->over.size() == under->over.size(), "two ratios are compared in the same rounds");
  return interval_of(over->over.size(), seed, [&](std::span<const std::size_t> positions) {
    return ratio_at(*over, positions, room) / ratio_at(*under, positions, room);
  });
}

double round_significant(double value, int digits) {
  if (value == 0 || !std::isfinite(value)) return value;
  const int exponent = static_cast<int>(std::floor(std::log10(std::fabs(value))));
  // A larger power of ten is infinite.
  constexpr double step = 1e300;
  if (digits - 1 - exponent > 300) return round_significant(value * step, digits) / step;
  // Dividing by a power of ten is exact where multiplying by a negative one is not: 0.1 stays 0.1.
  const int shift = digits - 1 - exponent;
  const double scale = std::pow(10.0, std::abs(shift));
  return shift >= 0 ? std::round(value * scale) / scale : std::round(value / scale) * scale;
}

}  // namespace sukima::lab
