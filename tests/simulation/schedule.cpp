// SPDX-License-Identifier: Apache-2.0
#include "schedule.hpp"

#include <array>

namespace sukima::simulation {

// The seed is mixed first, because the program of the same seed uses the same generator.
schedule::schedule(std::uint64_t seed) : random_(random_programs::numbers(~seed).next()) {
  constexpr std::array<std::uint64_t, 5> gaps{1, 3, 10, 40, 200};
  constexpr std::array<std::uint64_t, 3> paces{1, 8, 64};
  constexpr std::array<std::uint64_t, 4> stops{0, 0, 256, 32};
  constexpr std::array<std::uint64_t, 4> wake_ups{0, 0, 64, 8};
  habits_.gap = gaps[random_.below(gaps.size())];
  habits_.pace = paces[random_.below(paces.size())];
  habits_.by_priority = random_.once_in(2);
  habits_.long_stops = stops[random_.below(stops.size())];
  habits_.clock_jumps = random_.once_in(4) ? 1024 : 0;
  habits_.spurious = wake_ups[random_.below(wake_ups.size())];
}

std::uint64_t schedule::length(std::uint64_t from, std::uint64_t to) noexcept {
  const std::uint64_t order = std::uint64_t{1} << (from + random_.below(to - from));
  return order + random_.below(order);
}

std::uint64_t schedule::next_stop() noexcept { return happens(habits_.long_stops) ? length(10, 24) : 0; }

std::uint64_t schedule::next_jump() noexcept { return happens(habits_.clock_jumps) ? length(20, 31) : 0; }

}  // namespace sukima::simulation
