// SPDX-License-Identifier: Apache-2.0
// fib: a fork at every call, no cut-off.
#include "harness/harness.hpp"
#include "system.hpp"

namespace {

std::int64_t fib(sukima::context c, std::int64_t n) {
  if (n < 2) return n;
  auto [a, b] = sukima::fork2(
      c, [n](sukima::context below) { return fib(below, n - 1); },
      [n](sukima::context below) { return fib(below, n - 2); });
  return a + b;
}

void measure(bench::run& run) {
  const std::int64_t n = run.size_between(0, 60);
  std::int64_t result = 0;
  run.time([&] { result = system_runtime().run([n](sukima::context c) { return fib(c, n); }); });
  run.result(result);
}

const bench::registration registered{"fib", measure};

}  // namespace
