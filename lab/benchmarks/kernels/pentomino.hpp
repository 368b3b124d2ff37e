// SPDX-License-Identifier: Apache-2.0
// The pentomino puzzle: fill a board, six columns wide, with n pieces of five cells.
//
// n = 12 is the classic 6×10 board with the twelve different pieces. It has 2339 fillings; each is counted
// with its turned and mirrored forms, so the result is 9356. For n > 12 the board continues downwards (up to
// 17 rows; with a wall column that is a grid of 7×17) to its first 5n cells, and every additional piece is
// one more straight one. All pieces count as different, so exchanging two straight ones gives another
// filling.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace kernels {

/// Cells of a board as bits; cell 7 * row + column.
__extension__ typedef unsigned __int128 cell_set;

namespace pentomino_detail {
inline constexpr int width = 7;  // of the grid: six columns and the wall

struct orientation {
  std::array<int, 5> cell{};  // relative to the first cell in reading order
  std::uint64_t mask = 0;
};

struct piece {
  std::array<orientation, 8> form{};
  int forms = 0;
};

inline constexpr std::array<std::string_view, 12> shapes{
    "XXXXX",       "XXXX/X...",   "XXXX/.X..",   "XXX/XX.",     "XXX/X.X",     "XXX./..XX",
    "XXX/X../X..", "XX./.XX/..X", "XX./.X./.XX", ".XX/XX./.X.", ".X./XXX/.X.", "XXX/.X./.X."};

/// The different orientations of a shape, each with its first cell (in reading order) at 0.
constexpr piece orientations(std::string_view shape) {
  std::array<int, 5> rows{}, columns{};
  unsigned cells = 0;
  int row = 0, column = 0;
  for (const char c : shape) {
    if (c == '/') {
      ++row, column = 0;
      continue;
    }
    if (c == 'X') rows[cells] = row, columns[cells] = column, ++cells;
    ++column;
  }
  piece p;
  for (unsigned turn = 0; turn < 8; ++turn) {
    orientation o;
    for (unsigned i = 0; i < 5; ++i) {
      int y = rows[i], x = columns[i];
      if (turn & 4) std::swap(x, y);
      if (turn & 1) x = -x;
      if (turn & 2) y = -y;
      o.cell[i] = y * width + x;
    }
    std::sort(o.cell.begin(), o.cell.end());
    const int first = o.cell[0];
    for (int& c : o.cell) {
      c -= first;
      o.mask |= std::uint64_t{1} << c;
    }
    bool known = false;
    for (int i = 0; i < p.forms; ++i) known |= p.form[static_cast<unsigned>(i)].mask == o.mask;
    if (!known) p.form[static_cast<unsigned>(p.forms++)] = o;
  }
  return p;
}

constexpr std::array<piece, 12> all_orientations() {
  std::array<piece, 12> all;
  for (unsigned i = 0; i < 12; ++i) all[i] = orientations(shapes[i]);
  return all;
}
}  // namespace pentomino_detail

inline constexpr auto pentomino_pieces = pentomino_detail::all_orientations();

/// A partly filled board, and the order of the pieces. The pieces at [0, used) are on the board.
struct pentomino_board {
  static constexpr int most_pieces = 20;
  static constexpr int cells = 17 * pentomino_detail::width;

  int n = 0;                                       // pieces
  std::array<std::int8_t, most_pieces> piece{};    // a permutation of the pieces
  std::array<std::int8_t, cells> colour{};         // 0: free, 1: outside, otherwise piece + 2
  cell_set full = 0;                               // the cells whose colour is not 0, and all bits above

  explicit pentomino_board(int pieces) : n(pieces) {
    for (int i = 0; i < n; ++i) piece[static_cast<unsigned>(i)] = static_cast<std::int8_t>(i);
    int inside = 0;
    full = ~cell_set{0};
    for (int i = 0; i < cells; ++i) {
      const bool free = i % pentomino_detail::width < 6 && inside < 5 * n;
      inside += free;
      colour[static_cast<unsigned>(i)] = free ? 0 : 1;
      if (free) full &= ~(cell_set{1} << i);
    }
  }

  /// Returns the shape and orientations of the piece at that place of the order. Pieces from the 13th on are
  /// straight.
  [[nodiscard]] const pentomino_detail::piece& forms(int place) const {
    const auto p = static_cast<unsigned char>(piece[static_cast<unsigned>(place)]);
    return pentomino_pieces[p < 12 ? p : 0];
  }

  [[nodiscard]] bool complete() const { return full == ~cell_set{0}; }

  /// The first free cell in reading order at or after cell k; the board must not be complete.
  [[nodiscard]] int first_free(int k) const {
    // The board is filled in reading order, so a free cell is never more than a piece's reach beyond the last
    // one.
    return k + std::countr_one(window(k));
  }

  /// Returns the cells that are not free from cell k on, in the form of orientations' masks. An orientation
  /// fits if its mask has no cell in common with it. It stays valid while pieces are placed and removed
  /// again.
  [[nodiscard]] std::uint64_t window(int k) const { return static_cast<std::uint64_t>(full >> k); }

  /// Returns whether the first free cell k is part of a hole of one or two cells, which no piece fills.
  [[nodiscard]] bool hopeless(int k) const {
    constexpr std::uint64_t right = 1 << 1, below = 1 << 7, next_right = 1 << 2, next_below = 1 << 8;
    const std::uint64_t w = window(k);
    if ((w & below) == 0) return false;
    return (w & right) != 0 || (~w & (next_right | next_below)) == 0;
  }

  /// Puts the piece at place `chosen` of the order on cell k, in that orientation, and moves it to place
  /// `used`.
  void place(int k, int used, int chosen, const pentomino_detail::orientation& o) {
    std::swap(piece[static_cast<unsigned>(used)], piece[static_cast<unsigned>(chosen)]);
    paint(k, o, static_cast<std::int8_t>(piece[static_cast<unsigned>(used)] + 2));
  }

  /// Undoes the placement with the same arguments.
  void remove(int k, int used, int chosen, const pentomino_detail::orientation& o) {
    paint(k, o, 0);
    std::swap(piece[static_cast<unsigned>(used)], piece[static_cast<unsigned>(chosen)]);
  }

 private:
  void paint(int k, const pentomino_detail::orientation& o, std::int8_t value) {
    for (const int c : o.cell) colour[static_cast<unsigned>(k + c)] = value;
    full ^= cell_set{o.mask} << k;
  }
};

/// A way to put one of the remaining pieces on a cell: its place in the order, and its orientation.
struct pentomino_placement {
  const pentomino_detail::orientation* how;
  int chosen;
};

/// All placements on the first free cell k that fit, with the pieces from place `used` of the order on.
class fitting_placements {
 public:
  fitting_placements(const pentomino_board& board, int k, int used) {
    const std::uint64_t window = board.window(k);
    for (int chosen = used; chosen < board.n; ++chosen) {
      const auto& piece = board.forms(chosen);
      for (int form = 0; form < piece.forms; ++form) {
        const auto& how = piece.form[static_cast<unsigned>(form)];
        // Avoids an unpredictable branch, which makes the whole search faster by a sixth.
        list_[count_] = {&how, chosen};
        count_ += (window & how.mask) == 0;
      }
    }
  }
  [[nodiscard]] std::span<const pentomino_placement> all() const { return {list_, count_}; }

 private:
  pentomino_placement list_[pentomino_board::most_pieces * 8];
  std::size_t count_ = 0;
};

}  // namespace kernels
