// SPDX-License-Identifier: Apache-2.0
// Lists of periods of time, and their intersections and differences.
#pragma once

#include <vector>

namespace sukima::cli::explain {

/// A period from one moment to a later one, in seconds since the beginning of the trace.
struct period {
  double from = 0;
  double to = 0;
  double seconds() const { return to - from; }
  bool operator==(const period&) const = default;
};

/// Periods in order of time that neither overlap nor touch. All functions here take and return such lists.
using periods = std::vector<period>;

/// Sorts any periods, joins those that overlap or touch, and omits empty ones. O(n log n).
periods merged(periods list);

/// Returns the times that are in both lists. O(n + m).
periods common(const periods& a, const periods& b);

/// Returns the times that are in `a` but not in `b`. O(n + m).
periods without(const periods& a, const periods& b);

/// Returns the sum of their lengths in seconds.
double seconds_of(const periods& list);

}  // namespace sukima::cli::explain
