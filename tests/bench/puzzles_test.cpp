// SPDX-License-Identifier: Apache-2.0
// Tests of the problems of sudoku, knights-tour and subset-sum, against programs that look at everything
// anew.
#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include "kernels/puzzles.hpp"

namespace {

using kernels::knight_board;
using kernels::subset_sum;
using kernels::sudoku;

bool conflicts(const sudoku& board, int cell, int digit) {
  for (int other = 0; other < sudoku::cells; ++other) {
    if (board.digit[static_cast<unsigned>(other)] != digit || other == cell) continue;
    if (other / 9 == cell / 9 || other % 9 == cell % 9) return true;
    if (other / 27 == cell / 27 && other % 9 / 3 == cell % 9 / 3) return true;
  }
  return false;
}

TEST(sudoku, refuses_what_its_row_column_or_box_has) {
  sudoku board(30);
  const sudoku before = board;
  int refused = 0;
  for (int cell = 0; cell < sudoku::cells; ++cell) {
    if (board.digit[static_cast<unsigned>(cell)] != 0) continue;
    for (int digit = 1; digit <= 9; ++digit) {
      const bool set = board.set(cell, digit);
      EXPECT_NE(set, conflicts(board, cell, digit)) << "digit " << digit << " in cell " << cell;
      refused += !set;
      if (set) board.clear(cell, digit);
    }
  }
  EXPECT_GT(refused, 0);
  EXPECT_EQ(board.digit, before.digit);
  EXPECT_EQ(board.in_row, before.in_row);
  EXPECT_EQ(board.in_column, before.in_column);
  EXPECT_EQ(board.in_box, before.in_box);
}

TEST(sudoku, the_most_constrained_cell_has_no_rival) {
  const sudoku board(40);
  const auto left = [&](int cell) {
    int count = 0;
    for (int digit = 1; digit <= 9; ++digit) count += !conflicts(board, cell, digit);
    return count;
  };
  const int chosen = board.most_constrained();
  ASSERT_LT(chosen, sudoku::full);
  for (int cell = 0; cell < sudoku::cells; ++cell) {
    if (board.digit[static_cast<unsigned>(cell)] == 0) {
      EXPECT_LE(left(chosen), left(cell));
    }
  }
  EXPECT_EQ(sudoku(81).most_constrained(), sudoku::full);
}

// The ways to go on from the last place, with a set of the visited ones.
int tours_from(std::vector<std::pair<int, int>>& path, std::set<std::pair<int, int>>& visited, int columns) {
  if (static_cast<int>(path.size()) == knight_board::rows * columns) return 1;
  int sum = 0;
  const auto [row, column] = path.back();
  for (int down = -2; down <= 2; ++down) {
    for (int right = -2; right <= 2; ++right) {
      if (down * down + right * right != 5) continue;
      const std::pair to{row + down, column + right};
      if (to.first < 0 || to.first >= knight_board::rows || to.second < 0 || to.second >= columns) continue;
      if (!visited.insert(to).second) continue;
      path.push_back(to);
      sum += tours_from(path, visited, columns);
      path.pop_back();
      visited.erase(to);
    }
  }
  return sum;
}

int tours(knight_board& board) {
  if (board.complete()) return 1;
  int sum = 0;
  for (int jump = 0; jump < knight_board::jumps; ++jump) {
    if (!board.jump(jump)) continue;
    sum += tours(board);
    board.jump_back(jump);
  }
  return sum;
}

TEST(knights_tour, finds_the_tours_of_a_set_of_places) {
  for (const int columns : {1, 3, 4, 5}) {
    std::vector<std::pair<int, int>> path{{0, 0}};
    std::set<std::pair<int, int>> visited{{0, 0}};
    knight_board board(columns);
    EXPECT_EQ(tours(board), tours_from(path, visited, columns)) << columns << " columns";
  }
  knight_board five(5);
  EXPECT_EQ(tours(five), 32);
}

std::int64_t subsets(const subset_sum& p, std::size_t i, std::int64_t left) {
  if (left == 0) return 1;
  if (left < 0 || left > p.rest[i]) return 0;
  return subsets(p, i + 1, left - p.number[i]) + subsets(p, i + 1, left);
}

TEST(subset_sum, finds_what_a_look_at_every_subset_finds) {
  for (const int count : {0, 1, 12, 15}) {
    const subset_sum problem(count);
    std::int64_t found = 0;
    for (unsigned subset = 0; subset < 1U << count; ++subset) {
      std::int64_t sum = 0;
      for (unsigned i = 0; i < static_cast<unsigned>(count); ++i)
        if ((subset >> i & 1) != 0) sum += problem.number[i];
      found += sum == problem.sum;
    }
    EXPECT_EQ(subsets(problem, 0, problem.sum), found) << count << " numbers";
  }
}

}  // namespace
