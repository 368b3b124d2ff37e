// SPDX-License-Identifier: Apache-2.0
// fib: a fork at every call, no cut-off.
#include "in_runtime.hpp"

namespace {

std::int64_t fib(auto c, std::int64_t n) {
  if (n < 2) return n;
  auto [a, b] = sukima::fork2(
      c, [n](auto below) { return fib(below, n - 1); }, [n](auto below) { return fib(below, n - 2); });
  return a + b;
}

void measure(bench::run& run) {
  const std::int64_t n = run.size_between(0, 60);
  time_in_runtime(run, [n](sukima::context c) { return fib(c, n); });
}

const bench::registration registered{"fib", measure};

}  // namespace
