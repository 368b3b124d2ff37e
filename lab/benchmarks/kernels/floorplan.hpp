// SPDX-License-Identifier: Apache-2.0
// The smallest rectangle for cells that are placed one after the other. Each cell has several possible shapes
// and is beside or below earlier ones. This is Floorplan of the Barcelona OpenMP Tasks Suite, on a board of
// bits.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "kernels/random.hpp"

namespace kernels {

inline constexpr int most_floor_cells = 20;
inline constexpr int floor_side = 64;  // rows and columns of the board
inline constexpr int no_cell = -1;
inline constexpr int no_floor_area = std::numeric_limits<int>::max();

/// A cell on the board. It includes the first row and column, but not the last ones.
struct floor_place {
  std::int8_t top, left, bottom, right;
  friend bool operator==(const floor_place&, const floor_place&) = default;
};

/// The problem: shapes and neighbours of cells from a fixed seed.
struct floor_cells {
  static constexpr int most_shapes = 6;
  struct cell {
    std::array<std::array<std::int8_t, 2>, most_shapes> shape;  ///< rows and columns
    int shapes;
    int left_of_it, above_it;  ///< earlier cells that it touches, or no_cell
  };
  std::array<cell, most_floor_cells> all{};
  int count;

  explicit floor_cells(int n) : count(n) {
    random_numbers random(13);
    for (int k = 0; k < n; ++k) {
      cell& c = all[static_cast<std::size_t>(k)];
      const int area = 2 + static_cast<int>(random.below(11));
      // All shapes of that area or slightly more without a superfluous row.
      int last_rows = floor_side;
      for (int columns = 1; columns <= area && c.shapes < most_shapes; ++columns) {
        const int rows = (area + columns - 1) / columns;
        if (rows >= last_rows) continue;
        last_rows = rows;
        c.shape[static_cast<std::size_t>(c.shapes++)] = {static_cast<std::int8_t>(rows),
                                                         static_cast<std::int8_t>(columns)};
      }
      c.left_of_it = c.above_it = no_cell;
      if (k == 0) continue;
      const auto neighbours = random.below(4);
      if (neighbours != 1) c.left_of_it = k - 1;
      if (neighbours == 1 || (neighbours == 2 && k == 1)) c.above_it = k - 1;
      if (neighbours == 2 && k > 1) c.above_it = static_cast<int>(random.below(static_cast<unsigned>(k - 1)));
    }
  }
};

/// Some cells on a board.
class floor_board {
 public:
  explicit floor_board(const floor_cells& cells) : cells_(&cells) {}

  [[nodiscard]] int placed() const { return placed_; }
  [[nodiscard]] bool complete() const { return placed_ == cells_->count; }
  /// Returns the area of the rectangle around all cells.
  [[nodiscard]] int area() const { return rows_ * columns_; }

  /// Places the next cell. If it would cover another one, returns false and changes nothing.
  bool add(floor_place p) {
    const std::uint64_t mask = mask_of(p);
    for (int row = p.top; row < p.bottom; ++row)
      if ((row_[at(row)] & mask) != 0) return false;
    for (int row = p.top; row < p.bottom; ++row) row_[at(row)] |= mask;
    outline_[at(placed_)] = {rows_, columns_};
    place_[at(placed_++)] = p;
    rows_ = std::max<std::int8_t>(rows_, p.bottom);
    columns_ = std::max<std::int8_t>(columns_, p.right);
    return true;
  }
  /// Removes the last cell.
  void take_back() {
    const floor_place p = place_[at(--placed_)];
    rows_ = outline_[at(placed_)][0], columns_ = outline_[at(placed_)][1];
    const std::uint64_t mask = mask_of(p);
    for (int row = p.top; row < p.bottom; ++row) row_[at(row)] &= ~mask;
  }

  /// The places for the next cell. If it has a neighbour on both sides, there is one place for each shape;
  /// otherwise all places in which it touches its neighbour.
  class places {
   public:
    explicit places(const floor_board& board) {
      const auto& cell = board.cells_->all[at(board.placed_)];
      for (int i = 0; i < cell.shapes; ++i) {
        const auto [rows, columns] = cell.shape[at(i)];
        int top = 0, last_top = 0, left = 0, last_left = 0;
        if (cell.left_of_it != no_cell) {
          const floor_place& beside = board.place_[at(cell.left_of_it)];
          left = last_left = beside.right;
          top = std::max(0, beside.top - rows + 1), last_top = beside.bottom - 1;
        }
        if (cell.above_it != no_cell) {
          const floor_place& above = board.place_[at(cell.above_it)];
          top = last_top = above.bottom;
          if (cell.left_of_it == no_cell)
            left = std::max(0, above.left - columns + 1), last_left = above.right - 1;
        }
        for (; top <= last_top; ++top)
          for (int x = left; x <= last_left; ++x) add(top, x, top + rows, x + columns);
      }
    }
    [[nodiscard]] std::span<const floor_place> all() const { return {place_.data(), count_}; }

   private:
    void add(int top, int left, int bottom, int right) {
      if (bottom > floor_side || right > floor_side) return;
      place_[count_++] = {static_cast<std::int8_t>(top), static_cast<std::int8_t>(left),
                          static_cast<std::int8_t>(bottom), static_cast<std::int8_t>(right)};
    }
    // Two cells touch in fewer places than both together have rows, or columns.
    std::array<floor_place, floor_cells::most_shapes * 24> place_;
    std::size_t count_ = 0;
  };

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  static std::uint64_t mask_of(floor_place p) {
    return ((std::uint64_t{1} << (p.right - p.left)) - 1) << p.left;
  }

  const floor_cells* cells_;
  std::array<std::uint64_t, floor_side> row_{};
  std::array<floor_place, most_floor_cells> place_{};
  std::array<std::array<std::int8_t, 2>, most_floor_cells> outline_{};  ///< before the cell was placed
  int placed_ = 0;
  std::int8_t rows_ = 0, columns_ = 0;
};

/// The smallest area so far, for all branches of a search. Relaxed: the area publishes no other data.
class least_area {
 public:
  [[nodiscard]] bool promising(int area) const { return area < area_.load(std::memory_order_relaxed); }
  void offer(int area) {
    int least = area_.load(std::memory_order_relaxed);
    while (area < least && !area_.compare_exchange_weak(least, area, std::memory_order_relaxed)) {
    }
  }
  [[nodiscard]] int area() const { return area_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int> area_{no_floor_area};  // no partner: the number is all that the branches exchange
};

}  // namespace kernels
