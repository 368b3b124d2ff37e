// SPDX-License-Identifier: Apache-2.0
// fib: the plain recursive function.
#include "harness/harness.hpp"

namespace {

std::int64_t fib(std::int64_t n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

void measure(bench::run& run) {
  const std::int64_t n = run.size_between(0, 60);
  std::int64_t result = 0;
  run.time([&] { result = fib(n); });
  run.result(result);
}

const bench::registration registered{"fib", measure};

}  // namespace
