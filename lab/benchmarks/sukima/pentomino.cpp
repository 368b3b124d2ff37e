// SPDX-License-Identifier: Apache-2.0
// pentomino: one board a worker, changed and changed back; a search among the placements that fit at every
// node.
#include "kernels/pentomino.hpp"

#include "in_runtime.hpp"

namespace {

using kernels::pentomino_board;
using placement = kernels::pentomino_placement;

// The fillings of the rest of the board, from free cell k, with the pieces that are not used yet.
std::int64_t fillings(auto c, pentomino_board& board, int k, int used) {
  const kernels::fitting_placements fitting(board, k, used);
  return sukima::search(
      c, board, fitting.all(),
      [k, used](pentomino_board& b, placement p) { b.place(k, used, p.chosen, *p.how); },
      [k, used](pentomino_board& b, placement p) { b.remove(k, used, p.chosen, *p.how); },
      [k, used](auto below, pentomino_board& b, placement) -> std::int64_t {
        if (b.complete()) return 1;
        const int free = b.first_free(k);
        return b.hopeless(free) ? 0 : fillings(below, b, free, used + 1);
      },
      std::plus{});
}

void measure(bench::run& run) {
  pentomino_board board{run.size_between(12, pentomino_board::most_pieces)};
  time_in_runtime(run, [&](sukima::context c) { return fillings(c, board, 0, 0); });
}

const bench::registration registered{"pentomino", measure};

}  // namespace
