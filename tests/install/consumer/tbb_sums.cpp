// SPDX-License-Identifier: Apache-2.0
// A program for oneTBB on Sukima's workers.
#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include <cstdio>
#include <functional>

int main() {
  const long sum = tbb::parallel_reduce(
      tbb::blocked_range<long>(1, 101), 0L,
      [](const tbb::blocked_range<long>& part, long so_far) {
        for (long i = part.begin(); i != part.end(); ++i) so_far += i;
        return so_far;
      },
      std::plus<>{});
  std::printf("%ld\n", sum);
}
