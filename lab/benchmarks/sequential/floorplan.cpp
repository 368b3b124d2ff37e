// SPDX-License-Identifier: Apache-2.0
// floorplan: the plain recursion, with a bound that is a number.
#include "harness/harness.hpp"
#include "sequential/searches.hpp"

namespace {

struct least_area {
  int area = kernels::no_floor_area;
  [[nodiscard]] bool promising(int other) const { return other < area; }
  void offer(int other) { area = other; }  // only a promising one
};

void measure(bench::run& run) {
  const kernels::floor_cells cells(run.size_between(1, kernels::most_floor_cells));
  kernels::floor_board board(cells);
  least_area least;
  run.time([&] { sequential::floorplans(board, least); });
  run.result(least.area);
}

const bench::registration registered{"floorplan", measure};

}  // namespace
