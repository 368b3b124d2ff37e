// SPDX-License-Identifier: Apache-2.0
// Starts oneTBB with a number of workers, more than there are CPUs if asked to.
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include "harness/harness.hpp"

void bench::with_system(unsigned workers, const std::function<void()>& body) {
  constexpr std::size_t stack_bytes = std::size_t{1} << 28;  // address space, for deep recursions
  const tbb::global_control most(tbb::global_control::max_allowed_parallelism, workers);
  const tbb::global_control stack(tbb::global_control::thread_stack_size, stack_bytes);
  tbb::task_arena arena(static_cast<int>(workers));
  arena.execute(body);
}
