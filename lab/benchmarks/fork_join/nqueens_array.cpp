// SPDX-License-Identifier: Apache-2.0
// nqueens-array for systems without undo: every choice that forks gets a copy of the board; below a cut-off
// depth that copy is changed and changed back.
#include "fork_join/cut_off.hpp"
#include "harness/harness.hpp"
#include "sequential/searches.hpp"
#include "system.hpp"

namespace {

using kernels::queens_board;

template <class CutOff>
std::int64_t solutions(auto c, queens_board& board, int row, CutOff end) {
  if (end.reached(row)) return sequential::solutions(board, row);
  if (row == board.n) return 1;
  return c.template sum<std::int64_t>(
      0, board.n, [&](int column) { return board.free(row, column); },
      [&board, row, end](auto below, int column) {
        queens_board next = board;
        next.place(row, column);
        return solutions(below, next, row + 1, end);
      });
}

template <class CutOff>
void measure(bench::run& run, CutOff end) {
  queens_board empty{run.size_between(1, queens_board::most)};
  std::int64_t result = 0;
  run.time([&] { region([&](auto c) { result = solutions(c, empty, 0, end); }); });
  run.result(result);
}

const bench::registration registered{"nqueens-array", [](bench::run& run) { measure(run, no_cut_off{}); }};
const bench::tuned_registration tuned{"nqueens-array",
                                      [](bench::run& run) { measure(run, cut_off{run.depth()}); }};

}  // namespace
