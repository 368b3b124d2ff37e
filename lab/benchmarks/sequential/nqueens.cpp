// SPDX-License-Identifier: Apache-2.0
// nqueens: bit masks, a loop over the free columns of each row by their lowest bit.
#include "harness/harness.hpp"
#include "sequential/searches.hpp"

namespace {

void measure(bench::run& run) {
  const auto empty = kernels::queens::empty(run.size_between(1, kernels::most_queens));
  std::int64_t result = 0;
  run.time([&] { result = sequential::solutions(empty); });
  run.result(result);
}

const bench::registration registered{"nqueens", measure};

}  // namespace
