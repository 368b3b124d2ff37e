// SPDX-License-Identifier: Apache-2.0
// A oneTBB program for the tests of `sukima run`.
#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>
#include <tbb/task_arena.h>

#include <cstdio>
#include <functional>

int main() {
  const long sum = tbb::parallel_reduce(
      tbb::blocked_range<long>(1, 1'000'001), 0L,
      [](const tbb::blocked_range<long>& range, long partial) {
        for (long i = range.begin(); i != range.end(); ++i) partial += i;
        return partial;
      },
      std::plus<>());
  std::printf("threads %d\nresult %ld\n", tbb::this_task_arena::max_concurrency(), sum);
}
