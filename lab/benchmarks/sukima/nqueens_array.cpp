// SPDX-License-Identifier: Apache-2.0
// nqueens-array: one board a worker, changed and changed back.
#include "kernels/nqueens_array.hpp"

#include "in_runtime.hpp"

#include <ranges>

namespace {

using kernels::queens_board;

std::int64_t solutions(auto c, queens_board& board, int row) {
  if (row == board.n) return 1;
  return sukima::search(
      c, board, std::views::iota(0, board.n),
      [row](queens_board& b, int column) { return b.place_if_free(row, column); },
      [row](queens_board& b, int column) { b.remove(row, column); },
      [row](auto below, queens_board& b, int) { return solutions(below, b, row + 1); }, std::plus{});
}

void measure(bench::run& run) {
  queens_board board{run.size_between(1, queens_board::most)};
  time_in_runtime(run, [&](sukima::context c) { return solutions(c, board, 0); });
}

const bench::registration registered{"nqueens-array", measure};

}  // namespace
