// SPDX-License-Identifier: Apache-2.0
// The ways to place N queens: sukima cluster run -n 4 -- queens-sukima N
#include "cluster/beside_mpi/arguments.hpp"
#include "kernels/nqueens.hpp"
#include "sequential/searches.hpp"

#include <sukima/cluster.hpp>
#include <sukima/ranges.hpp>

#include <bit>
#include <cstdio>
#include <functional>

using kernels::queens;

/// The last rows are searched without forks: a fork costs more than a row with bit masks.
constexpr int sequential_rows = 8;

std::int64_t solutions(sukima::context c, queens board);
std::int64_t with_queen(sukima::context c, queens board, std::uint64_t bit) {
  return solutions(c, board.with(static_cast<std::uint32_t>(bit)));
}
std::int64_t solutions(sukima::context c, queens board) {
  if (std::popcount(~board.columns) <= sequential_rows) return sequential::solutions(board);
  return sukima::parallel_reduce(c, sukima::set_bits(board.free()), std::int64_t{0},
                                 sukima::call<with_queen>(board), std::plus{});
}

int main(int count, char** words) {
  const queens empty = board_of(count, words);
  std::printf("%lld\n", static_cast<long long>(sukima::cluster::run(sukima::call<solutions>(empty))));
}
