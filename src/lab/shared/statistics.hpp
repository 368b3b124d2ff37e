// SPDX-License-Identifier: Apache-2.0
// Order statistics and bootstrap intervals of repeated measurements.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sukima::lab {

struct quartiles {
  double q1;
  double median;
  double q3;
};

/// The quantile of `values` at `probability` (0 to 1), interpolated linearly between order statistics
/// (Hyndman and Fan's definition 7, as in R and NumPy). `sorted` is ascending and not empty. O(1).
double quantile(std::span<const double> sorted, double probability);

/// First quartile, median and third quartile of a sample that is not empty. O(n log n).
quartiles quartiles_of(std::vector<double> values);

/// Median of a sample that is not empty. O(n log n).
double median_of(std::vector<double> values);

struct interval {
  double estimate;
  double low;
  double high;
};

/// Median of a sample that is not empty, with its 95 % bootstrap percentile interval (10,000 resamples with
/// replacement; the seed is fixed, so that the same sample always gives the same interval).
/// O(resamples * n log n).
interval bootstrap_median(std::span<const double> values, std::uint64_t seed = 1);

/// The ratio of the median of `left` to the smallest (or largest) median among `right`, with its 95 %
/// bootstrap percentile interval. The samples are paired: element i of each was measured in the same round,
/// so each resample (2,000; the seed is fixed) draws rounds, and chooses the right side anew. All have the
/// same size and are not empty. Values may be infinite (a run that was stopped); nothing if the ratio is
/// undefined, infinite by infinite. O(resamples * n log n * samples).
std::optional<interval> bootstrap_ratio(std::span<const double> left,
                                        const std::vector<std::vector<double>>& right, bool largest,
                                        std::uint64_t seed = 1);

/// `value` rounded to a number of significant digits, so that reports do not show digits that mean nothing.
double round_significant(double value, int digits);

}  // namespace sukima::lab
