// SPDX-License-Identifier: Apache-2.0
// Units of simulated time, and time that passes for a hypervisor: for tests.
#pragma once

#include "hypervisor.hpp"

#include <cstdint>

namespace sukima::simulation {

inline constexpr std::uint64_t microsecond = 1'000;
inline constexpr std::uint64_t millisecond = 1'000'000;
inline constexpr std::uint64_t second = 1'000'000'000;

/// Lets all happen before that time.
inline void run_until(hypervisor& all, std::uint64_t time) {
  for (auto e = all.next(); e && e->at < time; e = all.next()) all.happen(*e);
}

}  // namespace sukima::simulation
