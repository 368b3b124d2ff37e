// SPDX-License-Identifier: Apache-2.0
// forest: the same rounds, and no atomics.
#include "kernels/forest.hpp"

#include "harness/harness.hpp"

namespace {

void measure(bench::run& run) {
  kernels::forest_problem problem(static_cast<std::size_t>(run.size_between(1, 1 << 26)));
  const int pieces = problem.pieces();
  run.time([&] {
    for (int piece = 0; piece < pieces; ++piece) problem.divide(piece);
    do {
      for (int piece = 0; piece < pieces; ++piece) problem.join(piece);
      while (problem.edges_are_left()) {
        for (int piece = 0; piece < pieces; ++piece) problem.find_lightest_alone(piece);
        for (int piece = 0; piece < pieces; ++piece) problem.hang(piece);
        for (int piece = 0; piece < pieces; ++piece) problem.join(piece);
      }
    } while (problem.add_heavy());
  });
  run.result(problem.result());
}

const bench::registration registered{"forest", measure};

}  // namespace
