// SPDX-License-Identifier: Apache-2.0
// nqueens-array: one board a worker, changed and changed back.
#include "kernels/nqueens_array.hpp"

#include "harness/harness.hpp"
#include "system.hpp"

namespace {

using kernels::queens_board;

std::int64_t solutions(sukima::context c, queens_board& board, int row) {
  if (row == board.n) return 1;
  const kernels::free_places free(board, row);
  return sukima::search(
      c, board, free.all(), [row](queens_board& b, int column) { b.place(row, column); },
      [row](queens_board& b, int column) { b.remove(row, column); },
      [row](sukima::context below, queens_board& b, int) { return solutions(below, b, row + 1); },
      std::plus{});
}

void measure(bench::run& run) {
  queens_board board{run.size_between(1, queens_board::most)};
  std::int64_t result = 0;
  run.time([&] { result = system_runtime().run([&](sukima::context c) { return solutions(c, board, 0); }); });
  run.result(result);
}

const bench::registration registered{"nqueens-array", measure};

}  // namespace
