// SPDX-License-Identifier: Apache-2.0
// The times until which an object waits.
#pragma once

#include <chrono>

namespace sukima::objects::detail {

using clock = std::chrono::steady_clock;

/// Converts a length above 0 to the clock's unit, rounded up. The result is a century at most, so that no sum
/// overflows.
template <class Rep, class Period> clock::duration at_most_a_century(
    std::chrono::duration<Rep, Period> length) {
  constexpr std::chrono::hours century{24 * 365 * 100};
  if (std::chrono::duration<double>(length) >= century) return century;
  return std::chrono::ceil<clock::duration>(length);
}

/// Returns the end of a wait of this length that begins now.
template <class Rep, class Period> clock::time_point end_of_wait(std::chrono::duration<Rep, Period> longest) {
  const auto now = clock::now();
  const bool is_positive = longest > longest.zero();  // not-a-number is not
  return is_positive ? now + at_most_a_century(longest) : now;
}

}  // namespace sukima::objects::detail
