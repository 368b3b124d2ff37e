// SPDX-License-Identifier: Apache-2.0
// bfs: in each level a loop over pieces of it, and one that puts together what they have found.
#include "kernels/bfs.hpp"

#include "harness/harness.hpp"
#include "system.hpp"

namespace {

void measure(bench::run& run) {
  kernels::bfs_problem problem(static_cast<std::size_t>(run.size_between(1, 1 << 27)));
  run.time([&] {
    for (problem.begin(); !problem.is_over(); problem.finish_level()) {
      loop(0, problem.pieces(), [&problem](int piece) { problem.expand(piece); });
      problem.lay_out();
      loop(0, problem.pieces(), [&problem](int piece) { problem.place(piece); });
    }
  });
  run.result(problem.result());
}

const bench::registration registered{"bfs", measure};

}  // namespace
