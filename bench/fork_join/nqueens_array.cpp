// SPDX-License-Identifier: Apache-2.0
// nqueens-array for systems without undo: every choice gets a copy of the board.
#include "kernels/nqueens_array.hpp"

#include "harness/harness.hpp"
#include "system.hpp"

namespace {

using kernels::queens_board;

std::int64_t solutions(context c, const queens_board& board, int row) {
  if (row == board.n) return 1;
  return c.sum<std::int64_t>(
      0, board.n, [&](int column) { return board.free(row, column); },
      [&board, row](context below, int column) {
        queens_board next = board;
        next.place(row, column);
        return solutions(below, next, row + 1);
      });
}

void measure(bench::run& run) {
  const queens_board empty{run.size_between(1, queens_board::most)};
  std::int64_t result = 0;
  run.time([&] { region([&](context c) { result = solutions(c, empty, 0); }); });
  run.result(result);
}

const bench::registration registered{"nqueens-array", measure};

}  // namespace
