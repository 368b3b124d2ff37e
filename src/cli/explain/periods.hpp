// SPDX-License-Identifier: Apache-2.0
// Lists of periods of time, and their intersections and differences.
#pragma once

#include <vector>

namespace sukima::cli::explain {

/// From one moment to a later one, in seconds since the beginning of the trace.
struct period {
  double from = 0;
  double to = 0;
  double seconds() const { return to - from; }
  bool operator==(const period&) const = default;
};

/// Periods in order of time, none of which touches the next. All functions here take and return such lists.
using periods = std::vector<period>;

/// Any periods, brought in order; those that overlap or touch become one. Empty ones are left out. O(n log
/// n).
periods merged(periods list);

/// The times in both lists. O(n + m).
periods common(const periods& a, const periods& b);

/// The times in `a` that are not in `b`. O(n + m).
periods without(const periods& a, const periods& b);

/// The sum of their lengths in seconds.
double seconds_of(const periods& list);

}  // namespace sukima::cli::explain
