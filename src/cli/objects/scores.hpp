// SPDX-License-Identifier: Apache-2.0
// Computes how well predicted times agree with measured ones.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace sukima::cli::objects {

/// A time between two known bounds. Times whose ranges overlap are tied.
struct time_range {
  double low = 0, middle = 0, high = 0;
};

/// Returns the median and the quartiles of measured times, by the nearest rank. \pre at least one time
time_range range_of(std::vector<double> times);

/// Kendall's rank correlation tau-b: 1 if both have the same order, -1 if one is the reverse of the other.
/// \pre both have the same size
/// \returns nothing if all times of one side are tied, because then it has no order. O(n²).
std::optional<double> kendall_tau(std::span<const time_range> one, std::span<const time_range> other);

/// Returns the rank of each time, from 1; a tie does not count as slower. O(n²).
std::vector<std::size_t> ranks_of(std::span<const time_range> times);

}  // namespace sukima::cli::objects
