// SPDX-License-Identifier: Apache-2.0
#include "tuning.hpp"

#include <sukima/detail/loop.hpp>

#include <time.h>

namespace sukima::detail {

namespace {

struct reading {
  std::uint64_t tick;
  std::uint64_t nanoseconds;
};

/// Both clocks at one moment: the closest of three tries, because a thread may lose its CPU between two
/// reads.
[[maybe_unused]] reading read_both() noexcept {
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

double measure() noexcept {
#if defined(__x86_64__)
  const reading first = read_both();
  reading last = first;
  while (last.nanoseconds - first.nanoseconds < tuning::clock_measurement_ns) last = read_both();
  return static_cast<double>(last.tick - first.tick) /
         static_cast<double>(last.nanoseconds - first.nanoseconds);
#else
  return 3;  // as ticks() makes them
#endif
}

}  // namespace

double ticks_per_nanosecond() noexcept {
  static const double rate = measure();
  return rate;
}

}  // namespace sukima::detail
