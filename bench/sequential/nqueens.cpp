// SPDX-License-Identifier: Apache-2.0
// nqueens: bit masks, a loop over the columns of each row; and the same with a loop over the free bits.
#include "kernels/nqueens.hpp"

#include "harness/harness.hpp"

namespace {

using kernels::queens;

std::int64_t solutions(queens q) {
  if (q.complete()) return 1;
  std::int64_t sum = 0;
  for (const std::uint32_t bit : kernels::free_columns(q)) sum += solutions(q.with(bit));
  return sum;
}

std::int64_t solutions_by_lowest_bit(queens q) {
  if (q.complete()) return 1;
  std::int64_t sum = 0;
  for (std::uint32_t free = q.free(); free != 0; free &= free - 1)
    sum += solutions_by_lowest_bit(q.with(free & -free));
  return sum;
}

template <std::int64_t count(queens)>
void measure(bench::run& run) {
  const queens empty{run.size_between(1, kernels::most_queens)};
  std::int64_t result = 0;
  run.time([&] { result = count(empty); });
  run.result(result);
}

const bench::registration registered[]{{"nqueens", measure<solutions>},
                                       {"nqueens-lowbit", measure<solutions_by_lowest_bit>}};

}  // namespace
