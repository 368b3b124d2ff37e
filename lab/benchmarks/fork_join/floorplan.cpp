// SPDX-License-Identifier: Apache-2.0
// floorplan for systems without undo: a parallel choice among the places of the next cell, each with a copy
// of the board, at every node or above a cut-off depth; below it that copy is changed and changed back. All
// branches share the bound.
#include "fork_join/cut_off.hpp"
#include "harness/harness.hpp"
#include "sequential/searches.hpp"
#include "system.hpp"

namespace {

using kernels::floor_board;
using kernels::least_area;

template <class CutOff>
void floorplans(auto c, floor_board& board, least_area& least, CutOff end) {
  if (end.reached(board.placed())) return sequential::floorplans(board, least);
  if (!least.promising(board.area())) return;
  if (board.complete()) return least.offer(board.area());
  const floor_board::places possible(board);
  const auto all = possible.all();
  c.each(0, static_cast<int>(all.size()), [&board, &least, all, end](auto below, int choice) {
    floor_board next = board;
    if (next.add(all[static_cast<unsigned>(choice)])) floorplans(below, next, least, end);
  });
}

template <class CutOff>
void measure(bench::run& run, CutOff end) {
  const kernels::floor_cells cells(run.size_between(1, kernels::most_floor_cells));
  floor_board board(cells);
  least_area least;
  run.time([&] { region([&](auto c) { floorplans(c, board, least, end); }); });
  run.result(least.area());
}

const bench::registration registered{"floorplan", [](bench::run& run) { measure(run, no_cut_off{}); }};
const bench::tuned_registration tuned{"floorplan",
                                      [](bench::run& run) { measure(run, cut_off{run.depth()}); }};

}  // namespace
