// SPDX-License-Identifier: Apache-2.0
// nqueens: bit masks; a parallel loop over the columns of each row. nqueens-lowbit skips the columns that
// are not
// free: by their number there are at most as many iterations as free bits.
#include "kernels/nqueens.hpp"

#include "harness/harness.hpp"
#include "system.hpp"

namespace {

using kernels::queens;

std::int64_t solutions(sukima::context c, queens q) {
  if (q.complete()) return 1;
  const std::uint32_t free = q.free();
  return sukima::parallel_reduce(
      c, 0, q.n, std::int64_t{0},
      [q, free](sukima::context below, int column) -> std::int64_t {
        const std::uint32_t bit = std::uint32_t{1} << column;
        return free & bit ? solutions(below, q.with(bit)) : 0;
      },
      std::plus{});
}

const bench::registration registered{
    "nqueens", [](bench::run& run) {
      const queens empty{run.size_between(1, kernels::most_queens)};
      std::int64_t result = 0;
      run.time(
          [&] { result = system_runtime().run([&](sukima::context c) { return solutions(c, empty); }); });
      run.result(result);
    }};

}  // namespace
