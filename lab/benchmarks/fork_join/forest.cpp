// SPDX-License-Identifier: Apache-2.0
// forest: in each round three loops over pieces of the edges.
#include "kernels/forest.hpp"

#include "harness/harness.hpp"
#include "system.hpp"

namespace {

void measure(bench::run& run) {
  kernels::forest_problem problem(static_cast<std::size_t>(run.size_between(1, 1 << 26)));
  const int pieces = problem.pieces();
  run.time([&] {
    loop(0, pieces, [&problem](int piece) { problem.divide(piece); });
    do {
      loop(0, pieces, [&problem](int piece) { problem.join(piece); });
      while (problem.edges_are_left()) {
        loop(0, pieces, [&problem](int piece) { problem.find_lightest(piece); });
        loop(0, pieces, [&problem](int piece) { problem.hang(piece); });
        loop(0, pieces, [&problem](int piece) { problem.join(piece); });
      }
    } while (problem.add_heavy());
  });
  run.result(problem.result());
}

const bench::registration registered{"forest", measure};

}  // namespace
