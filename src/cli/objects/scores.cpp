// SPDX-License-Identifier: Apache-2.0
// Ranks and their correlation; see scores.hpp.
#include "objects/scores.hpp"

#include <base/shared/assert.hpp>

#include <algorithm>
#include <cmath>

namespace sukima::cli::objects {
namespace {

/// Returns -1 if a is faster, 1 if b is faster, 0 if they are tied.
int compare(const time_range& a, const time_range& b) {
  if (a.low <= b.high && b.low <= a.high) return 0;
  return a.middle < b.middle ? -1 : 1;
}

}  // namespace

time_range range_of(std::vector<double> times) {
  SUKIMA_ASSERT(!times.empty(), "a model that is compared has a time");
  std::sort(times.begin(), times.end());
  const std::size_t last = times.size() - 1;
  return {times[last / 4], times[last / 2], times[last - last / 4]};
}

std::optional<double> kendall_tau(std::span<const time_range> one, std::span<const time_range> other) {
  SUKIMA_ASSERT(one.size() == other.size(), "each predicted time has a measured one");
  double agreeing = 0, of_one = 0, of_other = 0;
  for (std::size_t i = 0; i < one.size(); i++) {
    for (std::size_t k = 0; k < i; k++) {
      const int by_one = compare(one[i], one[k]), by_other = compare(other[i], other[k]);
      agreeing += by_one * by_other;
      of_one += std::abs(by_one);
      of_other += std::abs(by_other);
    }
  }
  if (of_one == 0 || of_other == 0) return std::nullopt;
  SUKIMA_ASSERT(agreeing * agreeing <= of_one * of_other * (1 + 1e-9), "a correlation is from -1 to 1");
  return agreeing / std::sqrt(of_one * of_other);
}

std::vector<std::size_t> ranks_of(std::span<const time_range> times) {
  std::vector<std::size_t> ranks;
  for (const time_range& one : times)
    ranks.push_back(
        1 + static_cast<std::size_t>(std::count_if(times.begin(), times.end(), [&](const time_range& other) {
          return compare(other, one) < 0;
        })));
  return ranks;
}

}  // namespace sukima::cli::objects
