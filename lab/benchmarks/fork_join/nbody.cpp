// SPDX-License-Identifier: Apache-2.0
// nbody: in each step a loop over the bodies' blocks for the keys, a tree grown octant by octant, and a sum
// over the blocks while they move.
#include "kernels/nbody.hpp"

#include "harness/harness.hpp"
#include "kernels/matrix.hpp"
#include "system.hpp"

namespace {

using kernels::nbody_problem;
using kernels::nbody_sum;

constexpr int blocks_of_a_leaf = 16;

void set_keys(auto c, nbody_problem& p, int first, int last) {
  if (last - first <= blocks_of_a_leaf) {
    for (int block = first; block < last; ++block) p.set_keys(block);
    return;
  }
  const int middle = first + (last - first) / 2;
  c.fork2([&, first, middle](auto below) { set_keys(below, p, first, middle); },
          [&, middle, last](auto below) { set_keys(below, p, middle, last); });
}

void grow(auto c, nbody_problem& p, const nbody_problem::cell& cell);

// The octants [first, last), halved down to single ones.
void grow_each(auto c, nbody_problem& p, const nbody_problem::octants& o, int first, int last) {
  if (last - first == 1) return grow(c, p, o.part[static_cast<std::size_t>(first)]);
  const int middle = first + (last - first) / 2;
  c.fork2([&, first, middle](auto below) { grow_each(below, p, o, first, middle); },
          [&, middle, last](auto below) { grow_each(below, p, o, middle, last); });
}

void grow(auto c, nbody_problem& p, const nbody_problem::cell& cell) {
  if (cell.bodies() <= nbody_problem::grow_bodies) return p.grow(cell);
  const nbody_problem::octants o = p.divide(cell);
  if (o.count == 0) return p.set_leaf(cell);
  grow_each(c, p, o, 0, o.count);
  p.finish(cell);
}

void measure(bench::run& run) {
  nbody_problem problem(static_cast<std::size_t>(run.size_between(2, 10'000'000)));
  run.time([&] {
    region([&](auto c) {
      for (int step = 0; step < nbody_problem::steps; ++step) {
        set_keys(c, problem, 0, problem.blocks());
        grow(c, problem, problem.root());
        problem.end_step(c.template sum<nbody_sum>(
            0, problem.blocks(), [](int) { return true; },
            [&problem](auto, int block) { return problem.move_block(block); }));
      }
    });
  });
  if (!problem.conserved()) throw bench::wrong_result("the energy has not been kept");
  run.result(kernels::six_digits(problem.energy()));
}

const bench::registration registered{"nbody", measure};

}  // namespace
