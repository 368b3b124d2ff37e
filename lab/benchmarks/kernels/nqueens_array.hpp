// SPDX-License-Identifier: Apache-2.0
// n queens on a board of arrays that a search changes and restores: the program of the Tascell papers.
#pragma once

#include <array>
#include <cstdint>

namespace kernels {

/// A partly filled board: one queen in each of the first `row` rows. It is large on purpose: copying it at
/// every node costs more than visiting the node.
struct queens_board {
  static constexpr int most = 20;

  int n = 0;
  std::array<int, most> column{};                // of the queen in each row
  std::array<std::int32_t, most> taken{};        // columns
  std::array<std::int32_t, 2 * most> rising{};   // diagonals, by row + column
  std::array<std::int32_t, 2 * most> falling{};  // diagonals, by row - column + n

  explicit queens_board(int columns) : n(columns) {}

  /// Uses one jump for the three tests, because each of them alone is unpredictable.
  [[nodiscard]] bool free(int row, int c) const {
    return (at(taken, c) | at(rising, row + c) | at(falling, row - c + n)) == 0;
  }
  void place(int row, int c) {
    column[static_cast<unsigned>(row)] = c;
    mark(row, c, 1);
  }
  /// If that column is not free, returns false and places no queen.
  bool place_if_free(int row, int c) {
    if (!free(row, c)) return false;
    place(row, c);
    return true;
  }
  void remove(int row, int c) { mark(row, c, 0); }

 private:
  template <class A>
  static std::int32_t at(const A& a, int i) {
    return a[static_cast<unsigned>(i)];
  }
  void mark(int row, int c, std::int32_t value) {
    taken[static_cast<unsigned>(c)] = value;
    rising[static_cast<unsigned>(row + c)] = value;
    falling[static_cast<unsigned>(row - c + n)] = value;
  }
};

}  // namespace kernels
