// SPDX-License-Identifier: Apache-2.0
// pentomino: one board, changed and changed back.
#include "harness/harness.hpp"
#include "sequential/searches.hpp"

namespace {

void measure(bench::run& run) {
  kernels::pentomino_board board{run.size_between(12, kernels::pentomino_board::most_pieces)};
  std::int64_t result = 0;
  run.time([&] { result = sequential::fillings(board, 0, 0); });
  run.result(result);
}

const bench::registration registered{"pentomino", measure};

}  // namespace
