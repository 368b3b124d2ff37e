// SPDX-License-Identifier: Apache-2.0
// Stands in for the header of that name of tzcnt/runtime-benchmarks.
#pragma once

#include <sys/resource.h>

/// Peak memory of this process in KiB.
inline long peak_memory_usage() {
  rusage usage{};
  return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_maxrss : -1;
}
