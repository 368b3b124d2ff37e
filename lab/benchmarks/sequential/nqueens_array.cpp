// SPDX-License-Identifier: Apache-2.0
// nqueens-array: one board, changed and changed back.
#include "harness/harness.hpp"
#include "sequential/searches.hpp"

namespace {

void measure(bench::run& run) {
  kernels::queens_board board{run.size_between(1, kernels::queens_board::most)};
  std::int64_t result = 0;
  run.time([&] { result = sequential::solutions(board, 0); });
  run.result(result);
}

const bench::registration registered{"nqueens-array", measure};

}  // namespace
