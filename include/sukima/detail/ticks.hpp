// SPDX-License-Identifier: Apache-2.0
// The CPU's counter, read where a system call would cost too much.
#pragma once

#include <cstdint>

#if !defined(__x86_64__)
#include <chrono>
#endif

namespace sukima::detail {

/// A clock for the length of strips and clones: cheap, any unit near a third of a nanosecond.
inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()) * 3;
#endif
}

}  // namespace sukima::detail
