// SPDX-License-Identifier: Apache-2.0
// Replaces the header of that name of tzcnt/runtime-benchmarks.
#pragma once

#include <sys/resource.h>

/// Returns the peak memory of this process in KiB.
inline long peak_memory_usage() {
  rusage usage{};
  return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_maxrss : -1;
}
