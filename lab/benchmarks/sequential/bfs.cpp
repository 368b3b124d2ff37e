// SPDX-License-Identifier: Apache-2.0
// bfs: one queue, and no atomics.
#include "kernels/bfs.hpp"

#include "harness/harness.hpp"

namespace {

void measure(bench::run& run) {
  kernels::bfs_problem problem(static_cast<std::size_t>(run.size_between(1, 1 << 27)));
  run.time([&] { problem.search_plainly(); });
  run.result(problem.result());
}

const bench::registration registered{"bfs", measure};

}  // namespace
