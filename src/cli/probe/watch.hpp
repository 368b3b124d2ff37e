// SPDX-License-Identifier: Apache-2.0
// Displays repeatedly how many CPUs can be used.
#pragma once

#include <sys/types.h>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace sukima::cli::probe {

struct watch_options {
  pid_t process = 0;
  double interval = 1;                ///< seconds
  std::optional<unsigned> count;  ///< number of measurements; nothing: until the process or the reader ends
  bool json = false;  ///< one object per line
};

/// Determines when measurements are due: one per interval. Measurements that were missed while this process
/// was stopped are not made up for.
class pace {
 public:
  using clock = std::chrono::steady_clock;
  pace(clock::time_point first, clock::duration interval) : next_(first), interval_(interval) {}

  clock::time_point next() const { return next_; }

  /// Returns whether a measurement is due now. If so, the next one is due an interval later.
  bool take(clock::time_point now) {
    if (now < next_) return false;
    next_ += interval_;
    if (next_ <= now) next_ = now + interval_;
    return true;
  }

 private:
  clock::time_point next_;
  clock::duration interval_;
};

/// Returns a chart of numbers of CPUs from 0 to `cap`, the latest on the right, in rows of block characters.
/// \param width, height in characters
std::string chart(const std::vector<double>& values, double cap, std::size_t width, std::size_t height);

/// Measures repeatedly. On a terminal it redraws one chart; otherwise it prints a line per measurement.
/// \return the command's exit code
/// \throws usage_error if the process does not exist at the start
int watch(const watch_options& options);

}  // namespace sukima::cli::probe
