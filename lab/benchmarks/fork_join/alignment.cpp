// SPDX-License-Identifier: Apache-2.0
// alignment: each sequence in parallel, and with it each later one in parallel.
#include "kernels/alignment.hpp"

#include "harness/harness.hpp"
#include "system.hpp"

namespace {

void measure(bench::run& run) {
  const int n = run.size_between(2, kernels::most_sequences);
  kernels::alignment_problem problem(n);
  run.time([&] {
    region([&](auto c) {
      c.each(0, n, [&problem, n](auto below, int i) {
        below.each(i + 1, n, [&problem, i](auto, int j) { problem.align(i, j); });
      });
    });
  });
  run.result(problem.result());
}

const bench::registration registered{"alignment", measure};

}  // namespace
