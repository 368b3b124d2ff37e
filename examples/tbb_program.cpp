// SPDX-License-Identifier: Apache-2.0
// A program for oneTBB on Sukima's workers: the folder include/sukima/tbb-compat comes first in the
// include path, nothing else is different.
#include <tbb/blocked_range.h>
#include <tbb/concurrent_vector.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/task_group.h>

#include <cstdio>
#include <functional>
#include <string>

long fib(int n) {
  if (n < 2) return n;
  long a = 0;
  long b = 0;
  tbb::task_group group;
  group.run([&a, n] { a = fib(n - 1); });
  group.run([&b, n] { b = fib(n - 2); });
  group.wait();
  return a + b;
}

int main() {
  tbb::concurrent_vector<std::string> words;
  tbb::parallel_for(0, 1000, [&](int i) { words.push_back(std::to_string(i)); });

  const long sum = tbb::parallel_reduce(
      tbb::blocked_range<long>(0, 1000), 0L,
      [](const tbb::blocked_range<long>& part, long before) {
        for (long i = part.begin(); i != part.end(); ++i) before += i * i;
        return before;
      },
      std::plus<long>());

  std::printf("fib(20) = %ld, %zu words, sum of squares %ld\n", fib(20), words.size(), sum);
}
