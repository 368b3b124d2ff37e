// SPDX-License-Identifier: Apache-2.0
// nqueens: bit masks; a parallel choice among the columns at every node.
#include "kernels/nqueens.hpp"

#include "harness/harness.hpp"
#include "system.hpp"

namespace {

using kernels::queens;

std::int64_t solutions(context c, queens q) {
  if (q.complete()) return 1;
  const std::uint32_t free = q.free();
  return c.sum<std::int64_t>(
      0, q.n, [=](int column) { return (free >> column & 1) != 0; },
      [=](context below, int column) { return solutions(below, q.with(std::uint32_t{1} << column)); });
}

void measure(bench::run& run) {
  const queens empty{run.size_between(1, kernels::most_queens)};
  std::int64_t result = 0;
  run.time([&] { region([&](context c) { result = solutions(c, empty); }); });
  run.result(result);
}

const bench::registration registered{"nqueens", measure};

}  // namespace
