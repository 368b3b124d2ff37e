// SPDX-License-Identifier: Apache-2.0
// Measures calls that are too short for the clock, by medians over batches of calls.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "harness/harness.hpp"

namespace bench {

/// Returns the q-quantile (0 … 1, nearest rank) of the values, which must not be empty.
inline double quantile(std::vector<double> values, double q) {
  const auto rank = static_cast<std::size_t>(std::lround(q * static_cast<double>(values.size() - 1)));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(rank), values.end());
  return values[rank];
}

/// Calls `one` calls times, and times batches of `batch` calls. Records the median batch's seconds for one
/// call, and the CPU seconds of all calls.
template <class F>
void time_median(run& r, std::size_t calls, std::size_t batch, F one) {
  std::vector<double> seconds;
  seconds.reserve(calls / batch + 1);
  const double cpu = process_cpu_seconds();
  for (std::size_t done = 0; done < calls; done += batch) {
    const double start = wall_seconds();
    for (std::size_t i = 0; i < batch; ++i) {
      one();
      asm volatile("" : : : "memory");  // keeps calls apart: a compiler may fuse the loops of several
    }
    seconds.push_back((wall_seconds() - start) / static_cast<double>(batch));
  }
  r.record(quantile(std::move(seconds), 0.5), process_cpu_seconds() - cpu);
}

}  // namespace bench
