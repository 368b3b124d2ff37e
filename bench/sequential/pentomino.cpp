// SPDX-License-Identifier: Apache-2.0
// pentomino: one board, changed and changed back.
#include "kernels/pentomino.hpp"

#include "harness/harness.hpp"

namespace {

using kernels::pentomino_board;

// The fillings of the rest of the board, from free cell k, with the pieces that are not used yet.
std::int64_t fillings(pentomino_board& board, int k, int used) {
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

void measure(bench::run& run) {
  pentomino_board board{run.size_between(12, pentomino_board::most_pieces)};
  std::int64_t result = 0;
  run.time([&] { result = fillings(board, 0, 0); });
  run.result(result);
}

const bench::registration registered{"pentomino", measure};

}  // namespace
