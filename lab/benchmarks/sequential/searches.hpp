// SPDX-License-Identifier: Apache-2.0
// The searches as plain recursions on one board, which is changed and restored. They are the sequential
// programs, and the code of tuned programs below their cut-off depth.
#pragma once

#include <cstdint>

#include "kernels/cover.hpp"
#include "kernels/floorplan.hpp"
#include "kernels/nqueens.hpp"
#include "kernels/nqueens_array.hpp"
#include "kernels/pentomino.hpp"
#include "kernels/uts.hpp"

namespace sequential {

/// Returns the number of ways to fill the remaining rows of a board with these words. It is as fast as any of
/// a dozen forms that were tried. A structure as the argument is packed into two registers at each call,
/// which is a quarter slower with g++.
inline std::int64_t solutions(std::uint32_t columns, std::uint32_t up, std::uint32_t down) {
  const kernels::queens q{columns, up, down};
  if (q.complete()) return 1;
  std::int64_t sum = 0;
  for (std::uint32_t free = q.free(); free != 0; free &= free - 1) {
    const kernels::queens next = q.with(free & -free);
    sum += solutions(next.columns, next.up, next.down);
  }
  return sum;
}
inline std::int64_t solutions(kernels::queens q) { return solutions(q.columns, q.up, q.down); }

/// Returns the number of ways to fill the rows from `row` on. The board is unchanged afterwards.
inline std::int64_t solutions(kernels::queens_board& board, int row) {
  if (row == board.n) return 1;
  std::int64_t sum = 0;
  for (int column = 0; column < board.n; ++column) {
    if (!board.free(row, column)) continue;
    board.place(row, column);
    sum += solutions(board, row + 1);
    board.remove(row, column);
  }
  return sum;
}

/// Returns the number of fillings of the rest of the board, from free cell k, with the pieces from place
/// `used` on. The board is unchanged afterwards.
inline std::int64_t fillings(kernels::pentomino_board& board, int k, int used) {
  const kernels::fitting_placements fitting(board, k, used);
  std::int64_t sum = 0;
  for (const auto [how, chosen] : fitting.all()) {
    board.place(k, used, chosen, *how);
    if (board.complete()) {
      ++sum;
    } else if (const int free = board.first_free(k); !board.hopeless(free)) {
      sum += fillings(board, free, used + 1);
    }
    board.remove(k, used, chosen, *how);
  }
  return sum;
}

/// Returns the number of nodes of the tree from that node on.
inline std::int64_t nodes(const kernels::uts_tree& tree, const kernels::uts_node& node) {
  std::int64_t sum = 1;
  const int children = kernels::uts_children(tree, node);
  for (int i = 0; i < children; ++i) sum += nodes(tree, kernels::uts_child(node, i));
  return sum;
}

/// Returns the number of covers that extend this state, which is unchanged afterwards.
inline std::int64_t covers(kernels::exact_cover& state) {
  if (state.complete()) return 1;
  std::int64_t sum = 0;
  for (auto option = state.first_option(); option != 0; option = state.next_option(option)) {
    if (!state.choose(option)) continue;
    sum += covers(state);
    state.take_back(option);
  }
  return sum;
}

/// Finds the smallest area of the boards that extend this one, which is unchanged afterwards.
/// \tparam Least  has `promising` and `offer`
template <class Least>
void floorplans(kernels::floor_board& board, Least& least) {
  if (!least.promising(board.area())) return;
  if (board.complete()) return least.offer(board.area());
  const kernels::floor_board::places possible(board);
  for (const kernels::floor_place place : possible.all()) {
    if (!board.add(place)) continue;
    floorplans(board, least);
    board.take_back();
  }
}

}  // namespace sequential
