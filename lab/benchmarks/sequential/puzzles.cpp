// SPDX-License-Identifier: Apache-2.0
// sudoku, knights-tour and subset-sum: plain recursions.
#include "kernels/puzzles.hpp"

#include "harness/harness.hpp"

namespace {

std::int64_t solutions(kernels::sudoku& board) {
  const int cell = board.most_constrained();
  if (cell == kernels::sudoku::full) return 1;
  std::int64_t sum = 0;
  for (int digit = 1; digit <= 9; ++digit) {
    if (!board.set(cell, digit)) continue;
    sum += solutions(board);
    board.clear(cell, digit);
  }
  return sum;
}

std::int64_t tours(kernels::knight_board& board) {
  if (board.complete()) return 1;
  std::int64_t sum = 0;
  for (int jump = 0; jump < kernels::knight_board::jumps; ++jump) {
    if (!board.jump(jump)) continue;
    sum += tours(board);
    board.jump_back(jump);
  }
  return sum;
}

std::int64_t subsets(const kernels::subset_sum& p, std::size_t i, std::int64_t left) {
  if (left == 0) return 1;
  if (left < 0 || left > p.rest[i]) return 0;
  return subsets(p, i + 1, left - p.number[i]) + subsets(p, i + 1, left);
}

template <class F>
void time(bench::run& run, F f) {
  std::int64_t result = 0;
  run.time([&] { result = f(); });
  run.result(result);
}

void measure_sudoku(bench::run& run) {
  kernels::sudoku board(run.size_between(17, kernels::sudoku::cells));
  time(run, [&] { return solutions(board); });
}

void measure_tours(bench::run& run) {
  kernels::knight_board board(run.size_between(1, kernels::knight_board::most_columns));
  time(run, [&] { return tours(board); });
}

void measure_subsets(bench::run& run) {
  const kernels::subset_sum problem(run.size_between(0, 60));
  time(run, [&] { return subsets(problem, 0, problem.sum); });
}

const bench::registration registered[]{
    {"sudoku", measure_sudoku}, {"knights-tour", measure_tours}, {"subset-sum", measure_subsets}};

}  // namespace
