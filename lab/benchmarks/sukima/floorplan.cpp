// SPDX-License-Identifier: Apache-2.0
// floorplan: one board a worker, changed and changed back; a search among the places of the next cell at
// every node, with a bound that all workers share.
#include "kernels/floorplan.hpp"

#include "harness/harness.hpp"
#include "system.hpp"

namespace {

using kernels::floor_board;
using kernels::floor_place;
using best_area = sukima::best_solution<floor_board, int>;

int floorplans(auto c, floor_board& board, best_area& best) {
  if (board.complete()) {
    best.offer(board.area(), board);
    return 0;
  }
  const floor_board::places possible(board);
  return sukima::search(
      c, board, possible.all(), [](floor_board& b, floor_place place) { return b.add(place); },
      [](floor_board& b, floor_place) { b.take_back(); },
      [&best](auto below, floor_board& b, floor_place) {
        return best.promising(b.area()) ? floorplans(below, b, best) : 0;
      },
      std::plus{});
}

void measure(bench::run& run) {
  const kernels::floor_cells cells(run.size_between(1, kernels::most_floor_cells));
  floor_board board(cells);
  best_area best(kernels::no_floor_area);
  run.time([&] { system_runtime().run([&](sukima::context c) { floorplans(c, board, best); }); });
  run.result(best.bound());
}

const bench::registration registered{"floorplan", measure};

}  // namespace
