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

/// Returns the quantile of `values` at `probability` (0 to 1), interpolated linearly between order statistics
/// (Hyndman and Fan's definition 7, as in R and NumPy). `sorted` is ascending and not empty. O(1).
double quantile(std::span<const double> sorted, double probability);

/// Returns first quartile, median and third quartile of a sample that is not empty. O(n log n).
quartiles quartiles_of(std::vector<double> values);

/// Returns the median of a sample that is not empty. O(n log n).
double median_of(std::vector<double> values);

struct interval {
  double estimate;
  double low;
  double high;
};

/// Returns the median of a sample that is not empty, with its 95 % bootstrap percentile interval (10,000
/// resamples with replacement; the seed is fixed, so that the same sample always gives the same interval).
/// O(resamples * n log n).
interval bootstrap_median(std::span<const double> values, std::uint64_t seed = 1);

/// Samples among which the one with the smallest (or largest) median counts. The odd rounds choose the sample
/// for the even rounds, and the reverse. So no round judges a sample that it chose by chance.
struct alternatives {
  std::vector<std::vector<double>> samples;  ///< at least one
  bool largest = false;
};

/// Returns the ratio of the counting median on the left to the counting median on the right, with its 95 %
/// bootstrap percentile interval. The samples are paired: element i of each was measured in the same round,
/// so each resample (2,000; the seed is fixed) draws rounds. All samples have the same size and are not
/// empty. Values may be infinite (a run that was stopped). Returns nothing if the ratio is undefined,
/// infinite by infinite. O(n log n * (resamples + samples)).
std::optional<interval> bootstrap_ratio(const alternatives& left, const alternatives& right,
                                        std::uint64_t seed = 1);

/// A sample, and the sample by whose median its median is divided.
struct sample_pair {
  std::vector<double> over, under;
};

/// Returns the smallest (or largest) ratio of medians of `pairs`, which must not be empty. As above, each
/// half of the rounds has the pair that the other half chooses. Nothing if one of the ratios is undefined.
std::optional<interval> bootstrap_extreme_ratio(const std::vector<sample_pair>& pairs, bool largest,
                                                std::uint64_t seed = 1);

/// Returns the extreme ratio of `left` divided by that of `right`, neither of them empty: the worst slowdown
/// with quotas divided by the worst one with shared CPUs, for instance. Each side chooses its pair as above,
/// and a resample draws the same rounds for both. Nothing if one of the ratios is undefined. O(n log n *
/// (resamples + pairs)).
std::optional<interval> bootstrap_ratio_of_extremes(const std::vector<sample_pair>& left,
                                                    const std::vector<sample_pair>& right, bool largest,
                                                    std::uint64_t seed = 1);

/// Returns `value` rounded to a number of significant digits.
double round_significant(double value, int digits);

}  // namespace sukima::lab
