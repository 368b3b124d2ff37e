// SPDX-License-Identifier: Apache-2.0
// Replaces the yield of oneTBB's tests by one that gives work away, for tests with bodies that wait for each
// other. Here a worker gives parts of a loop or an invocation away only when it ends a part or calls an
// algorithm.
#pragma once

#include <oneapi/tbb/parallel_invoke.h>
#include <oneapi/tbb/task_arena.h>

#include <thread>

#define __TBB_test_common_utils_yield_H  // of the header that this replaces
namespace utils {
inline void yield() {
  std::this_thread::yield();
  if (tbb::this_task_arena::current_thread_index() >= 0) tbb::parallel_invoke([] {}, [] {});
}
}  // namespace utils
