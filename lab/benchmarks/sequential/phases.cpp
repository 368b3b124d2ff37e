// SPDX-License-Identifier: Apache-2.0
// phases: the time steps one after the other, row by row.
#include "kernels/phases.hpp"

#include "harness/steps.hpp"

namespace {

void measure(bench::run& run) {
  const int n = run.size_between(3, 20'000);
  kernels::heat_problem problem(static_cast<std::size_t>(n));
  const std::size_t steps = problem.steps();
  bench::step_clock clock(steps);
  clock.start();
  for (std::size_t step = 0; step < steps; ++step) {
    for (int row = 1; row < n - 1; ++row) problem.step_row(row);
    problem.finish_step();
    clock.step_is_over();
  }
  clock.record(run);
  run.result(problem.result());
}

const bench::registration registered{"phases", measure};

}  // namespace
