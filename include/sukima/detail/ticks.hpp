// SPDX-License-Identifier: Apache-2.0
// The CPU's counter, read where a system call would cost too much.
#pragma once

#include <cstdint>

// The simulated machine (docs/simulation.md) has a clock of its own, which rdtsc does not read.
#if defined(__x86_64__) && !defined(SUKIMA_SIMULATION)
#define SUKIMA_TICKS_ARE_RDTSC 1
#else
#define SUKIMA_TICKS_ARE_RDTSC 0
#endif

#if !SUKIMA_TICKS_ARE_RDTSC
#include <chrono>
#endif

namespace sukima::detail {

/// A cheap clock for the length of strips and clones. A tick is about a third of a nanosecond.
inline std::uint64_t ticks() noexcept {
#if SUKIMA_TICKS_ARE_RDTSC
  return __builtin_ia32_rdtsc();
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()) * 3;
#endif
}

}  // namespace sukima::detail
