// SPDX-License-Identifier: Apache-2.0
// histogram: a table for each piece, and the sum of all tables.
#include "kernels/histogram.hpp"

#include "harness/harness.hpp"
#include "system.hpp"

namespace {

void measure(bench::run& run) {
  const kernels::histogram_problem problem(static_cast<std::size_t>(run.size_between(1, 1 << 30)));
  kernels::histogram found;
  run.time([&] {
    region([&](auto c) {
      found = c.template sum<kernels::histogram>(
          0, problem.pieces(), [](int) { return true; },
          [&problem](auto, int piece) { return problem.count(piece); });
    });
  });
  run.result(problem.result(found));
}

const bench::registration registered{"histogram", measure};

}  // namespace
