// SPDX-License-Identifier: Apache-2.0
// nqueens-array: one board, changed and changed back.
#include "kernels/nqueens_array.hpp"

#include "harness/harness.hpp"

namespace {

using kernels::queens_board;

std::int64_t solutions(queens_board& board, int row) {
  if (row == board.n) return 1;
  std::int64_t sum = 0;
  for (int column = 0; column < board.n; ++column) {
    if (!board.free(row, column)) continue;
    board.place(row, column);
    sum += solutions(board, row + 1);
    board.remove(row, column);
  }
  return sum;
}

void measure(bench::run& run) {
  queens_board board{run.size_between(1, queens_board::most)};
  std::int64_t result = 0;
  run.time([&] { result = solutions(board, 0); });
  run.result(result);
}

const bench::registration registered{"nqueens-array", measure};

}  // namespace
