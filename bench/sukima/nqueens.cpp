// SPDX-License-Identifier: Apache-2.0
// nqueens: bit masks; a parallel loop over the free columns of each row, which a loop over all columns finds.
#include "kernels/nqueens.hpp"

#include "harness/harness.hpp"
#include "system.hpp"

namespace {

using kernels::queens;

std::int64_t solutions(sukima::context c, queens q) {
  if (q.complete()) return 1;
  const kernels::free_columns free(q);
  return sukima::parallel_reduce(
      c, free.begin(), free.end(), std::int64_t{0},
      [&q](sukima::context below, std::uint32_t bit) { return solutions(below, q.with(bit)); }, std::plus{});
}

void measure(bench::run& run) {
  const queens empty{run.size_between(1, kernels::most_queens)};
  std::int64_t result = 0;
  run.time([&] { result = system_runtime().run([&](sukima::context c) { return solutions(c, empty); }); });
  run.result(result);
}

const bench::registration registered{"nqueens", measure};

}  // namespace
