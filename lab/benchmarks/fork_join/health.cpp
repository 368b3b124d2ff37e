// SPDX-License-Identifier: Apache-2.0
// health: in each step the villages below a village in parallel, at every village or above a cut-off depth.
#include "kernels/health.hpp"

#include "fork_join/cut_off.hpp"
#include "harness/harness.hpp"
#include "system.hpp"

namespace {

using kernels::village;

template <class CutOff>
void step(auto c, village& v, int level, CutOff end) {
  if (end.reached(level)) return v.step_plainly();
  c.each(0, v.below(), [&v, level, end](auto below, int i) { step(below, v.below(i), level + 1, end); });
  v.treat();
}

template <class CutOff>
void measure(bench::run& run, CutOff end) {
  kernels::health_problem problem(run.size_between(1, kernels::most_health_levels));
  run.time([&] {
    region([&](auto c) {
      for (int i = 0; i < kernels::health_steps; ++i) step(c, problem.country, 0, end);
    });
  });
  run.result(problem.result());
}

const bench::registration registered{"health", [](bench::run& run) { measure(run, no_cut_off{}); }};
const bench::tuned_registration tuned{"health", [](bench::run& run) { measure(run, cut_off{run.depth()}); }};

}  // namespace
