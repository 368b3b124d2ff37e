// SPDX-License-Identifier: Apache-2.0
// The statistics that the optimiser needs, for at most a dozen numbers.
#pragma once

#include <vector>

namespace sukima::host {

/// The median; the mean of the two middle values if their number is even. \pre values is not empty
double median(std::vector<double> values);

/// Of fewer than five values the median; of more values the mean without the smallest and the largest one.
/// \pre values is not empty
double robust_mean(std::vector<double> values);

/// The sample standard deviation; 0 for fewer than two values.
double deviation(const std::vector<double>& values);

/// Estimates the standard deviation of a window's logarithm from consecutive windows: 1.06 × the median of
/// the absolute steps (for normal noise that median is 0.95 of the deviation); at least 1 %. Slow drift has
/// no effect.
/// \pre at least two values
double noise_of(const std::vector<double>& logs);

}  // namespace sukima::host
