// SPDX-License-Identifier: Apache-2.0
// Times as numbers, for what is computed, written to files or sent to another process.
#pragma once

#include <chrono>

namespace sukima {

/// Seconds of the clock that never goes back. Only differences mean something; all processes of a machine
/// read the same clock.
inline double steady_seconds() noexcept {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Seconds since 1970, which the administrator may set.
inline double wall_seconds() noexcept {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// The current time without fractions of a second, for dates in names and reports.
inline std::chrono::sys_seconds whole_wall_seconds() noexcept {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

}  // namespace sukima
