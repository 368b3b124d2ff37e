// SPDX-License-Identifier: Apache-2.0
// The few statistics that the optimiser needs, of a dozen numbers at most.
#pragma once

#include <vector>

namespace sukima::host {

/// \pre values is not empty. The mean of the middle two where their number is even.
double median(std::vector<double> values);

/// The median of fewer than five; of more the mean without the smallest and the largest.
/// \pre values is not empty
double robust_mean(std::vector<double> values);

/// The standard deviation of the whole from which the values were drawn; 0 for fewer than two.
double deviation(const std::vector<double>& values);

/// The standard deviation of a window's logarithm, from windows one after the other: 1.06 × the median of the
/// steps' absolute values (which is 0.95 of it for normal noise); at least 1 %. Slow drift does not count.
/// \pre at least two
double noise_of(const std::vector<double>& logs);

}  // namespace sukima::host
