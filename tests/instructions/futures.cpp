// SPDX-License-Identifier: Apache-2.0
// Programs whose instructions are counted: counted-futures untaken|launch SIZE, on one worker.
#include <sukima/sukima.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

using sukima::context;

/// Fibonacci's numbers with a future at each call, as fib-plain-context has a fork.
[[gnu::noinline]] long by_futures(context c, long n) {
  if (n < 2) return n;
  sukima::future<long> a(c, [=](context below) { return by_futures(below, n - 1); });
  const long b = by_futures(c, n - 2);
  return a.touch(c) + b;
}

/// Futures in groups of 64, each of which is launched before any of them is touched.
long launched_sum(context c, long size) {
  constexpr long together = 64;
  long sum = 0;
  for (long first = 0; first < size; first += together) {
    sukima::shared_future<long> some[together];
    for (auto& one : some) one = sukima::launch([first] { return first; });
    for (const auto& one : some) sum += one.touch(c);
  }
  return sum;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::fputs("usage: counted-futures untaken|launch SIZE\n", stderr);
    return 2;
  }
  const bool launches = std::strcmp(arguments[1], "launch") == 0;
  const long size = std::strtol(arguments[2], nullptr, 10);
  sukima::settings one_worker;
  one_worker.workers = 1;
  sukima::runtime one(one_worker);
  const long result =
      one.run([=](context c) { return launches ? launched_sum(c, size) : by_futures(c, size); });
  std::printf("%ld\n", result);
}
