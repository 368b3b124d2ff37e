// SPDX-License-Identifier: Apache-2.0
// limit_workers and decisions: a program leaves CPUs to others for a while, and shows what its runtime
// decided.
#include <sukima/sukima.hpp>

#include <cstdio>

static long fib(sukima::context c, long n) {
  if (n < 2) return n;
  auto [a, b] = sukima::fork2(
      c, [=](sukima::context below) { return fib(below, n - 1); },
      [=](sukima::context below) { return fib(below, n - 2); });
  return a + b;
}

int main() {
  sukima::settings four;
  four.workers = 4;
  four.elastic = false;  // four, however many CPUs there are
  sukima::runtime runtime(four);
  const auto compute = [](sukima::context c) { return fib(c, 25); };
  runtime.limit_workers(1);  // at any time, from any thread; surplus workers stop at their next poll
  std::printf("%ld with at most %u worker\n", runtime.run(compute), runtime.workers_now());
  runtime.limit_workers(0);  // takes the limit back
  std::printf("%ld with at most %u workers\n", runtime.run(compute), runtime.workers_now());
  for (const sukima::decision& d : runtime.decisions())
    std::printf("%s: %u to %u, because %s\n", d.setting.c_str(), d.before, d.after, d.reason.c_str());
}
