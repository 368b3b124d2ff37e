// SPDX-License-Identifier: Apache-2.0
// n queens with bit masks: the state of a partly filled board is three words, so a copy costs nothing.
#pragma once

#include <cstdint>

namespace kernels {

/// The columns and diagonals that are attacked in the next row. The columns outside the board count as
/// attacked, so the state need not contain the number of columns.
struct queens {
  std::uint32_t columns, up, down;

  /// A board of n columns without a queen.
  static queens empty(int n) { return {~((std::uint32_t{1} << n) - 1), 0, 0}; }
  [[nodiscard]] bool complete() const { return columns == ~std::uint32_t{0}; }
  /// Returns a bit for each column that the next row's queen may take. The lowest one is `free & -free`.
  [[nodiscard]] std::uint32_t free() const { return ~(columns | up | down); }
  /// Returns the board with one more queen, in the column of that bit.
  [[nodiscard]] queens with(std::uint32_t bit) const {
    return {columns | bit, (up | bit) << 1, (down | bit) >> 1};
  }
};

inline constexpr int most_queens = 20;

}  // namespace kernels
