// SPDX-License-Identifier: Apache-2.0
// A oneTBB program for the tests of `sukima run`. With a number it does so many pieces of work, for
// lab/scripts/run-table.py.
#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>
#include <tbb/task_arena.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>

namespace {

/// Half a millisecond of work.
std::uint64_t piece(std::uint64_t seed) {
  std::uint64_t x = seed * 2 + 1;
  for (int i = 0; i < 200'000; ++i) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
  }
  return x;
}

std::uint64_t work(int pieces) {
  return tbb::parallel_reduce(
      tbb::blocked_range<int>(0, pieces), std::uint64_t{0},
      [](const tbb::blocked_range<int>& range, std::uint64_t sum) {
        for (int i = range.begin(); i != range.end(); ++i) sum += piece(static_cast<std::uint64_t>(i));
        return sum;
      },
      std::plus<>());
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 1) {
    std::printf("result %llu\n", static_cast<unsigned long long>(work(std::atoi(arguments[1]))));
    return 0;
  }
  const long sum = tbb::parallel_reduce(
      tbb::blocked_range<long>(1, 1'000'001), 0L,
      [](const tbb::blocked_range<long>& range, long partial) {
        for (long i = range.begin(); i != range.end(); ++i) partial += i;
        return partial;
      },
      std::plus<>());
  std::printf("threads %d\nresult %ld\n", tbb::this_task_arena::max_concurrency(), sum);
}
