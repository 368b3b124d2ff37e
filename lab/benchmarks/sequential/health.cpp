// SPDX-License-Identifier: Apache-2.0
// health: the plain recursion.
#include "kernels/health.hpp"

#include "harness/harness.hpp"

namespace {

void measure(bench::run& run) {
  kernels::health_problem problem(run.size_between(1, kernels::most_health_levels));
  run.time([&] {
    for (int i = 0; i < kernels::health_steps; ++i) problem.country.step_plainly();
  });
  run.result(problem.result());
}

const bench::registration registered{"health", measure};

}  // namespace
