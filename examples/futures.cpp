// SPDX-License-Identifier: Apache-2.0
// Futures: results that are computed before they are needed, or when they are (docs/futures.md).
#include <cstdio>
#include <vector>

#include <sukima/sukima.hpp>

using sukima::context;

/// How many primes lie in [from, to)?
long primes(context c, long from, long to) {
  return sukima::parallel_reduce(
      c, from, to, 0L,
      [](long n) {
        long divisor = 2;
        while (divisor * divisor <= n && n % divisor != 0) ++divisor;
        return n > 1 && divisor * divisor > n ? 1L : 0L;
      },
      [](long a, long b) { return a + b; });
}

/// They outlive this function: every holder of a handle may touch them.
std::vector<sukima::shared_future<long>> primes_by_thousand(int blocks, sukima::place near) {
  std::vector<sukima::shared_future<long>> result;
  for (int i = 0; i < blocks; ++i)
    result.push_back(
        sukima::launch([i](context c) { return primes(c, i * 1000, (i + 1) * 1000); }, sukima::on(near)));
  return result;
}

int main() {
  sukima::run([](context c) {
    // Computed once, by an idle worker or at the first touch; both of the others need it.
    sukima::future below(c, [](context b) { return primes(b, 0, 1000); });
    sukima::future share(c, [&](context b) { return 100 * below.touch(b) / primes(b, 0, 2000); });
    const long next = primes(c, 1000, 2000);
    std::printf("%ld below 1000 (%ld %%), %ld in the next thousand\n", below.touch(c), share.touch(c), next);

    const auto blocks = primes_by_thousand(10, sukima::here());
    long sum = 0;
    for (const auto& block : blocks) sum += block.touch(c);
    std::printf("%ld below 10000\n", sum);
  });
}
