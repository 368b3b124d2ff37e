// SPDX-License-Identifier: Apache-2.0
// How long a worker's thread ran and waited for a CPU between two samples.
#pragma once

#include <capacity/shared/schedstat.h>

#include <cstdint>
#include <optional>

namespace sukima::detail {

/// The kernel's figures for one worker's thread at a sample.
struct worker_times {
  int thread = 0;  ///< 0: unknown
  cap_schedstat latest{};
  std::uint64_t starving_ns = 0;  ///< waited since it last got a tenth of the CPU that it wanted
};

struct times_between {
  std::uint64_t ran_ns;
  std::uint64_t waited_ns;
};

/// The times of the thread between two samples; nothing if these are not of the same thread. The kernel gives
/// the number of a thread that has ended to another one, whose figures begin at 0.
inline std::optional<times_between> between(const worker_times& before, const worker_times& after) noexcept {
  if (after.thread == 0 || after.thread != before.thread || after.latest.run_ns < before.latest.run_ns ||
      after.latest.wait_ns < before.latest.wait_ns)
    return std::nullopt;
  return times_between{after.latest.run_ns - before.latest.run_ns,
                       after.latest.wait_ns - before.latest.wait_ns};
}

}  // namespace sukima::detail
