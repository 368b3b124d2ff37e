// SPDX-License-Identifier: Apache-2.0
// fib: a fork at every call, no cut-off.
#include "harness/harness.hpp"
#include "system.hpp"

namespace {

std::int64_t fib(auto c, std::int64_t n) {
  if (n < 2) return n;
  std::int64_t a = 0, b = 0;
  c.fork2([&](auto below) { a = fib(below, n - 1); }, [&](auto below) { b = fib(below, n - 2); });
  return a + b;
}

void measure(bench::run& run) {
  const std::int64_t n = run.size_between(0, 60);
  std::int64_t result = 0;
  run.time([&] { region([&](auto c) { result = fib(c, n); }); });
  run.result(result);
}

const bench::registration registered{"fib", measure};

}  // namespace
