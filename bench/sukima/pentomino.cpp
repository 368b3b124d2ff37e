// SPDX-License-Identifier: Apache-2.0
// pentomino: one board a worker, changed and changed back; a search among the placements that fit at every
// node.
#include "kernels/pentomino.hpp"

#include <span>

#include "harness/harness.hpp"
#include "system.hpp"

namespace {

using kernels::pentomino_board;

/// A piece, by its place in the order, and one of its orientations.
struct placement {
  std::uint8_t chosen, form;
};

const auto& orientation(const pentomino_board& board, placement p) {
  return board.forms(p.chosen).form[p.form];
}

/// All placements on one cell: of at most all pieces in all orientations.
class placements {
 public:
  placements(const pentomino_board& board, int k, int used) {
    const std::uint64_t window = board.window(k);
    for (int chosen = used; chosen < board.n; ++chosen) {
      const auto& piece = board.forms(chosen);
      for (int form = 0; form < piece.forms; ++form)
        if (!(window & piece.form[static_cast<unsigned>(form)].mask))
          list_[count_++] = {static_cast<std::uint8_t>(chosen), static_cast<std::uint8_t>(form)};
    }
  }
  [[nodiscard]] std::span<const placement> all() const { return {list_, count_}; }

 private:
  placement list_[pentomino_board::most_pieces * 8];
  std::size_t count_ = 0;
};

// The fillings of the rest of the board, from free cell k, with the pieces that are not used yet.
std::int64_t fillings(sukima::context c, pentomino_board& board, int k, int used) {
  const placements fitting(board, k, used);
  return sukima::search(
      c, board, fitting.all(),
      [k, used](pentomino_board& b, placement p) { b.place(k, used, p.chosen, orientation(b, p)); },
      [k, used](pentomino_board& b, placement p) {
        b.remove(k, used, p.chosen,
                 b.forms(used).form[p.form]);  // it lies at place `used` while it is on the board
      },
      [k, used](sukima::context below, pentomino_board& b, placement) -> std::int64_t {
        if (b.complete()) return 1;
        const int free = b.first_free(k);
        return b.hopeless(free) ? 0 : fillings(below, b, free, used + 1);
      },
      std::plus{});
}

const bench::registration registered{
    "pentomino", [](bench::run& run) {
      pentomino_board board{run.size_between(12, pentomino_board::most_pieces)};
      std::int64_t result = 0;
      run.time([&] {
        result = system_runtime().run([&](sukima::context c) { return fillings(c, board, 0, 0); });
      });
      run.result(result);
    }};

}  // namespace
