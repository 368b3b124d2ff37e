// SPDX-License-Identifier: Apache-2.0
// pentomino for systems without undo: a parallel choice among the placements that fit at every node, each
// with
// a copy of the board.
#include "kernels/pentomino.hpp"

#include "harness/harness.hpp"
#include "system.hpp"

namespace {

using kernels::pentomino_board;

// The fillings of the rest of the board, from free cell k, with the pieces that are not used yet.
std::int64_t fillings(context c, const pentomino_board& board, int k, int used) {
  const kernels::fitting_placements fitting(board, k, used);
  const auto placements = fitting.all();
  return c.sum<std::int64_t>(
      0, static_cast<int>(placements.size()), [](int) { return true; },
      [&board, placements, k, used](context below, int choice) -> std::int64_t {
        const auto [how, chosen] = placements[static_cast<unsigned>(choice)];
        pentomino_board next = board;
        next.place(k, used, chosen, *how);
        if (next.complete()) return 1;
        const int free = next.first_free(k);
        return next.hopeless(free) ? 0 : fillings(below, next, free, used + 1);
      });
}

void measure(bench::run& run) {
  const pentomino_board empty{run.size_between(12, pentomino_board::most_pieces)};
  std::int64_t result = 0;
  run.time([&] { region([&](context c) { result = fillings(c, empty, 0, 0); }); });
  run.result(result);
}

const bench::registration registered{"pentomino", measure};

}  // namespace
