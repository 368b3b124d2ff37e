// SPDX-License-Identifier: Apache-2.0
// pentomino for systems without undo: a parallel choice among the pieces at every node, each with a copy of the
// board.
#include "kernels/pentomino.hpp"

#include "harness/harness.hpp"
#include "system.hpp"

namespace {

using kernels::pentomino_board;

// The fillings of the rest of the board, from free cell k, with the pieces that are not used yet.
std::int64_t fillings(context c, const pentomino_board& board, int k, int used) {
  const std::uint64_t window = board.window(k);
  return c.sum<std::int64_t>(
      used, board.n, [](int) { return true; },
      [&board, k, used, window](context below, int chosen) {
        const auto& piece = board.forms(chosen);
        std::int64_t sum = 0;
        for (int form = 0; form < piece.forms; ++form) {
          const auto& orientation = piece.form[static_cast<unsigned>(form)];
          if (window & orientation.mask) continue;
          pentomino_board next = board;
          next.place(k, used, chosen, orientation);
          if (next.complete()) {
            ++sum;
            continue;
          }
          const int free = next.first_free(k);
          if (!next.hopeless(free)) sum += fillings(below, next, free, used + 1);
        }
        return sum;
      });
}

const bench::registration registered{"pentomino", [](bench::run& run) {
  const pentomino_board empty{run.size_between(12, pentomino_board::most_pieces)};
  std::int64_t result = 0;
  run.time([&] { region([&](context c) { result = fillings(c, empty, 0, 0); }); });
  run.result(result);
}};

}  // namespace
