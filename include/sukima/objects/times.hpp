// SPDX-License-Identifier: Apache-2.0
// Until when an object waits.
#pragma once

#include <chrono>

namespace sukima::objects::detail {

using clock = std::chrono::steady_clock;

/// When a wait of this length ends that begins now: in a century at the latest, so that no sum overflows.
template <class Rep, class Period> clock::time_point end_of_wait(std::chrono::duration<Rep, Period> longest) {
  constexpr std::chrono::hours century{24 * 365 * 100};
  const auto now = clock::now();
  if (std::chrono::duration<double>(longest) >= century) return now + century;
  if (longest <= std::chrono::duration<Rep, Period>::zero()) return now;
  return now + std::chrono::ceil<clock::duration>(longest);
}

}  // namespace sukima::objects::detail
