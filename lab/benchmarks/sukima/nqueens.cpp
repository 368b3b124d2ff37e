// SPDX-License-Identifier: Apache-2.0
// nqueens: bit masks; a parallel loop over the free columns of each row, by their lowest bit.
#include "kernels/nqueens.hpp"

#include "in_runtime.hpp"

namespace {

using kernels::queens;

// The words by themselves, as in the sequential program.
std::int64_t solutions(auto c, std::uint32_t columns, std::uint32_t up, std::uint32_t down) {
  const queens q{columns, up, down};
  if (q.complete()) return 1;
  return sukima::parallel_reduce(
      c, sukima::set_bits(q.free()), std::int64_t{0},
      [q](auto below, std::uint32_t bit) {
        const queens next = q.with(bit);
        return solutions(below, next.columns, next.up, next.down);
      },
      std::plus{});
}

void measure(bench::run& run) {
  const queens empty = queens::empty(run.size_between(1, kernels::most_queens));
  time_in_runtime(run, [&](sukima::context c) { return solutions(c, empty.columns, empty.up, empty.down); });
}

const bench::registration registered{"nqueens", measure};

}  // namespace
