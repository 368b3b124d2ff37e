// SPDX-License-Identifier: Apache-2.0
// nbody in the Tascell language: its leaves as C calls them, and its measure.
#include "kernels/nbody.hpp"

#include <bit>

#include "harness/harness.hpp"
#include "kernels/matrix.hpp"
#include "problems.h"

namespace {

using kernels::nbody_problem;

static_assert(grown_bodies == nbody_problem::grow_bodies && step_count == nbody_problem::steps);

nbody_problem& bodies(void* problem) { return *static_cast<nbody_problem*>(problem); }
nbody_problem::cell of(const body_cell& c) { return std::bit_cast<nbody_problem::cell>(c); }

void measure(bench::run& run) {
  kernels::nbody_problem problem(static_cast<std::size_t>(run.size_between(2, 10'000'000)));
  run.time([&] { tascell_nbody(&problem); });
  if (!problem.conserved()) throw bench::wrong_result("the energy has not been kept");
  run.result(kernels::six_digits(problem.energy()));
}

const bench::registration registered{"nbody", measure};

}  // namespace

int leaf_blocks(const void* problem) { return static_cast<const nbody_problem*>(problem)->blocks(); }
void leaf_set_keys(void* problem, int block) { bodies(problem).set_keys(block); }
body_cell leaf_root(void* problem) { return std::bit_cast<body_cell>(bodies(problem).root()); }
body_octants leaf_divide(void* problem, const body_cell* cell) {
  return std::bit_cast<body_octants>(bodies(problem).divide(of(*cell)));
}
void leaf_set_leaf(void* problem, const body_cell* cell) { bodies(problem).set_leaf(of(*cell)); }
void leaf_grow(void* problem, const body_cell* cell) { bodies(problem).grow(of(*cell)); }
void leaf_finish(void* problem, const body_cell* cell) { bodies(problem).finish(of(*cell)); }
body_sum leaf_move(void* problem, int block) {
  return std::bit_cast<body_sum>(bodies(problem).move_block(block));
}
void leaf_end_step(void* problem, body_sum sum) {
  bodies(problem).end_step(std::bit_cast<kernels::nbody_sum>(sum));
}
