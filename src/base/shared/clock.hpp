// SPDX-License-Identifier: Apache-2.0
// Times as numbers, for calculations, files and messages to other processes.
#pragma once

#include <chrono>

namespace sukima {

/// Returns seconds of the clock that never goes back. Only differences are meaningful; all processes of a
/// machine read the same clock.
inline double steady_seconds() noexcept {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Returns seconds since 1970; an administrator may set this clock.
inline double wall_seconds() noexcept {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// Returns the current time without fractions of a second, for dates in names and reports.
inline std::chrono::sys_seconds whole_wall_seconds() noexcept {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

}  // namespace sukima
