// SPDX-License-Identifier: Apache-2.0
// Sudoku, the knight's tour and subset sums: the puzzles of a first parallel program.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/random.hpp"

namespace kernels {

/// A partly filled board of 9 x 9 cells.
struct sudoku {
  static constexpr int cells = 81;
  static constexpr int full = cells;

  std::array<std::uint8_t, cells> digit{};  // 0: empty
  std::array<std::uint16_t, 9> in_row{}, in_column{}, in_box{};  // a bit for each digit that is used

  /// Makes a board with this number of cells of one fixed solution, chosen at random. It may have other
  /// solutions.
  explicit sudoku(int clues) {
    std::array<int, cells> order;
    for (int i = 0; i < cells; ++i) order[static_cast<unsigned>(i)] = i;
    random_numbers random(2026);
    for (unsigned i = cells - 1; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
    for (int i = 0; i < clues; ++i) {
      const int cell = order[static_cast<unsigned>(i)];
      const int row = cell / 9;
      set(cell, (3 * (row % 3) + row / 3 + cell % 9) % 9 + 1);
    }
  }

  /// Writes a digit, unless its row, column or box already contains it. \returns whether it was written
  bool set(int cell, int number) {
    const auto bit = static_cast<std::uint16_t>(1 << number);
    if ((used_near(cell) & bit) != 0) return false;
    change(cell, bit);
    digit[static_cast<unsigned>(cell)] = static_cast<std::uint8_t>(number);
    return true;
  }
  void clear(int cell, int number) {
    change(cell, static_cast<std::uint16_t>(1 << number));
    digit[static_cast<unsigned>(cell)] = 0;
  }
  /// Returns the empty cell for which the fewest digits remain; `full` if there is none.
  [[nodiscard]] int most_constrained() const {
    int best = full;
    int most_used = -1;
    for (int cell = 0; cell < cells; ++cell) {
      if (digit[static_cast<unsigned>(cell)] != 0) continue;
      const int used = __builtin_popcount(used_near(cell));
      if (used > most_used) {
        most_used = used;
        best = cell;
      }
    }
    return best;
  }

 private:
  static unsigned box(int cell) { return static_cast<unsigned>(cell / 27 * 3 + cell % 9 / 3); }
  [[nodiscard]] unsigned used_near(int cell) const {
    return static_cast<unsigned>(in_row[static_cast<unsigned>(cell / 9)] |
                                 in_column[static_cast<unsigned>(cell % 9)] | in_box[box(cell)]);
  }
  void change(int cell, std::uint16_t bit) {
    in_row[static_cast<unsigned>(cell / 9)] ^= bit;
    in_column[static_cast<unsigned>(cell % 9)] ^= bit;
    in_box[box(cell)] ^= bit;
  }
};

/// A knight on a board of four rows that must visit each cell once.
class knight_board {
 public:
  static constexpr int rows = 4;
  static constexpr int most_columns = 12;
  static constexpr int jumps = 8;

  /// Puts the knight in a corner.
  explicit knight_board(int columns) : columns_(columns) { visited_[0][0] = true; }

  [[nodiscard]] bool complete() const { return visits_ == rows * columns_; }
  /// Jumps, unless the knight would leave the board or reach a visited cell. \returns whether it jumped
  bool jump(int number) {
    const int row = row_ + down[static_cast<unsigned>(number)];
    const int column = column_ + right[static_cast<unsigned>(number)];
    if (row < 0 || row >= rows || column < 0 || column >= columns_ || at(row, column)) return false;
    row_ = row;
    column_ = column;
    at(row, column) = true;
    ++visits_;
    return true;
  }
  void jump_back(int number) {
    at(row_, column_) = false;
    row_ -= down[static_cast<unsigned>(number)];
    column_ -= right[static_cast<unsigned>(number)];
    --visits_;
  }

 private:
  static constexpr std::array<int, jumps> down{1, 2, 2, 1, -1, -2, -2, -1};
  static constexpr std::array<int, jumps> right{2, 1, -1, -2, -2, -1, 1, 2};

  bool& at(int row, int column) {
    return visited_[static_cast<unsigned>(row)][static_cast<unsigned>(column)];
  }

  int columns_;
  int row_ = 0, column_ = 0;
  int visits_ = 1;
  std::array<std::array<bool, most_columns>, rows> visited_{};
};

/// Numbers, and a sum that some of them may have.
struct subset_sum {
  std::vector<std::int64_t> number;  // positive
  std::vector<std::int64_t> rest;  // the sum of all numbers from each place on, and a 0 at the end
  std::int64_t sum = 0;

  /// \param count number of numbers; the wanted sum is half of their sum
  explicit subset_sum(int count) : rest(static_cast<std::size_t>(count) + 1) {
    random_numbers random(7);
    for (int i = 0; i < count; ++i) number.push_back(static_cast<std::int64_t>(random.below(1000)) + 1);
    for (std::size_t i = number.size(); i-- > 0;) rest[i] = rest[i + 1] + number[i];
    sum = rest[0] / 2;
  }
};

}  // namespace kernels
