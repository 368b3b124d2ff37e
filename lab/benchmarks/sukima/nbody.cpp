// SPDX-License-Identifier: Apache-2.0
// nbody: one region for all steps; loops over blocks of bodies, and over the octants of large cells.
#include "kernels/nbody.hpp"

#include "harness/harness.hpp"
#include "kernels/matrix.hpp"
#include "system.hpp"

namespace {

using kernels::nbody_problem;
using kernels::nbody_sum;

void grow(sukima::context c, nbody_problem& p, const nbody_problem::cell& cell) {
  if (cell.bodies() <= nbody_problem::grow_bodies) return p.grow(cell);
  const nbody_problem::octants o = p.divide(cell);
  if (o.count == 0) return p.set_leaf(cell);
  sukima::parallel_for(c, 0, o.count, [&p, &o](sukima::context below, int i) {
    grow(below, p, o.part[static_cast<std::size_t>(i)]);
  });
  p.finish(cell);
}

void measure(bench::run& run) {
  nbody_problem problem(static_cast<std::size_t>(run.size_between(2, 10'000'000)));
  run.time([&] {
    system_runtime().run([&](sukima::context c) {
      for (int step = 0; step < nbody_problem::steps; ++step) {
        sukima::parallel_for(c, 0, problem.blocks(), [&problem](int block) { problem.set_keys(block); });
        grow(c, problem, problem.root());
        problem.end_step(sukima::parallel_reduce(
            c, 0, problem.blocks(), nbody_sum{}, [&problem](int block) { return problem.move_block(block); },
            std::plus{}));
      }
    });
  });
  if (!problem.conserved()) throw bench::wrong_result("the energy has not been kept");
  run.result(kernels::six_digits(problem.energy()));
}

const bench::registration registered{"nbody", measure};

}  // namespace
