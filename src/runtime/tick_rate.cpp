// SPDX-License-Identifier: Apache-2.0
#include "tick_rate.hpp"

#include <sukima/detail/ticks.hpp>

#include <time.h>

#include <algorithm>
#include <limits>

namespace sukima::detail {

namespace {

struct reading {
  std::uint64_t tick;
  std::uint64_t nanoseconds;
};

/// Reads both clocks at one moment. Takes the closest of three tries, because a thread may lose its CPU
/// between two reads.
reading read_both() noexcept {
  reading best{};
  std::uint64_t closest = ~std::uint64_t{0};
  for (int tries = 0; tries < 3; ++tries) {
    timespec t{};
    const std::uint64_t before = ticks();
    clock_gettime(CLOCK_MONOTONIC, &t);
    const std::uint64_t took = ticks() - before;
    if (took >= closest) continue;
    closest = took;
    best = {before + took / 2,
            static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(t.tv_nsec)};
  }
  return best;
}

/// The reading at which all measurements begin.
const reading& first_reading() noexcept {
  static const reading first = read_both();
  return first;
}

/// Ticks in a nanosecond between the first reading and `last`.
double rate_until(const reading& last) noexcept {
  const reading& first = first_reading();
  return static_cast<double>(last.tick - first.tick) /
         static_cast<double>(last.nanoseconds - first.nanoseconds);
}

double measure() noexcept {
#if SUKIMA_TICKS_ARE_RDTSC
  const std::uint64_t first = first_reading().nanoseconds;
  reading last = read_both();
  while (last.nanoseconds - first < tuning::clock_measurement_ns) last = read_both();
  return rate_until(last);
#else
  return 3;  // the rate that ticks() has
#endif
}

}  // namespace

double ticks_per_nanosecond() noexcept {
  static const double rate = measure();
  return rate;
}

std::uint32_t clone_grain_of(unsigned nanoseconds) noexcept {
  if (nanoseconds == 0) return 0;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(in_ticks(nanoseconds, ticks_per_nanosecond()),
                                                              1, std::numeric_limits<std::uint32_t>::max()));
}

double seconds_per_tick() noexcept {
  const double short_measurement = ticks_per_nanosecond();
  const reading& first = first_reading();  // before the second reading, because this may be the first call
  const reading now = read_both();
  const bool is_long = now.nanoseconds - first.nanoseconds >= tuning::long_clock_measurement_ns;
  return 1e-9 / (is_long ? rate_until(now) : short_measurement);
}

}  // namespace sukima::detail
