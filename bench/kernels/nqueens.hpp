// SPDX-License-Identifier: Apache-2.0
// n queens with bit masks: the state of a partly filled board is three words, so a copy costs nothing.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kernels {

/// The columns and diagonals that are attacked in the next row of a board of n columns.
struct queens {
  int n = 0;
  std::uint32_t columns = 0, up = 0, down = 0;

  [[nodiscard]] std::uint32_t all() const { return (std::uint32_t{1} << n) - 1; }
  [[nodiscard]] bool complete() const { return columns == all(); }
  /// A bit for each column that the next row's queen may take.
  [[nodiscard]] std::uint32_t free() const { return all() & ~(columns | up | down); }
  /// The board with one more queen, in the column of that bit.
  [[nodiscard]] queens with(std::uint32_t bit) const {
    return {n, columns | bit, (up | bit) << 1, (down | bit) >> 1};
  }
};

inline constexpr int most_queens = 20;

/// The bits of the next row's free columns, in the order of the columns.
class free_columns {
 public:
  explicit free_columns(queens q) {
    const std::uint32_t free = q.free();
    for (int column = 0; column < q.n; ++column) {
      const std::uint32_t bit = std::uint32_t{1} << column;
      // Without a branch, which would be unpredictable.
      bits_[count_] = bit;
      count_ += (free & bit) != 0;
    }
  }
  [[nodiscard]] const std::uint32_t* begin() const { return bits_; }
  [[nodiscard]] const std::uint32_t* end() const { return bits_ + count_; }

 private:
  std::uint32_t bits_[most_queens];
  std::size_t count_ = 0;
};

}  // namespace kernels
