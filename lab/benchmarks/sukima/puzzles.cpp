// SPDX-License-Identifier: Apache-2.0
// sudoku, knights-tour and subset-sum as a reader of the guide writes them, without tuning. `apply` refuses
// an impossible choice, and each function takes any context.
#include "kernels/puzzles.hpp"

#include "in_runtime.hpp"

#include <ranges>

namespace {

using kernels::knight_board;
using kernels::sudoku;

std::int64_t solutions(auto c, sudoku& board) {
  const int cell = board.most_constrained();
  if (cell == sudoku::full) return 1;
  return sukima::search(
      c, board, std::views::iota(1, 10), [cell](sudoku& b, int digit) { return b.set(cell, digit); },
      [cell](sudoku& b, int digit) { b.clear(cell, digit); },
      [](auto below, sudoku& b, int) { return solutions(below, b); }, std::plus{});
}

std::int64_t tours(auto c, knight_board& board) {
  if (board.complete()) return 1;
  return sukima::search(
      c, board, std::views::iota(0, knight_board::jumps),
      [](knight_board& b, int jump) { return b.jump(jump); },
      [](knight_board& b, int jump) { b.jump_back(jump); },
      [](auto below, knight_board& b, int) { return tours(below, b); }, std::plus{});
}

std::int64_t subsets(auto c, const kernels::subset_sum& p, std::size_t i, std::int64_t left) {
  if (left == 0) return 1;
  if (left < 0 || left > p.rest[i]) return 0;
  auto [with, without] = sukima::fork2(
      c, [&p, i, left](auto below) { return subsets(below, p, i + 1, left - p.number[i]); },
      [&p, i, left](auto below) { return subsets(below, p, i + 1, left); });
  return with + without;
}

void measure_sudoku(bench::run& run) {
  sudoku board(run.size_between(17, sudoku::cells));
  time_in_runtime(run, [&](sukima::context c) { return solutions(c, board); });
}

void measure_tours(bench::run& run) {
  knight_board board(run.size_between(1, knight_board::most_columns));
  time_in_runtime(run, [&](sukima::context c) { return tours(c, board); });
}

void measure_subsets(bench::run& run) {
  const kernels::subset_sum problem(run.size_between(0, 60));
  time_in_runtime(run, [&](sukima::context c) { return subsets(c, problem, 0, problem.sum); });
}

const bench::registration registered[]{
    {"sudoku", measure_sudoku}, {"knights-tour", measure_tours}, {"subset-sum", measure_subsets}};

}  // namespace
