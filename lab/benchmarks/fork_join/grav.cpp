// SPDX-License-Identifier: Apache-2.0
// grav: parallel loops over two coordinates; the line of points along the third one is a leaf.
#include "kernels/grav.hpp"

#include "harness/harness.hpp"
#include "system.hpp"

namespace {

using kernels::force;
using kernels::grav_problem;

force attraction(auto c, const grav_problem& g) {
  const auto every = [](int) { return true; };
  return c.template sum<force>(-g.n, g.n + 1, every, [&g, every](auto plane, int x) {
    return plane.template sum<force>(-g.n, g.n + 1, every, [&g, x](auto, int y) { return g.line(x, y); });
  });
}

void measure(bench::run& run) {
  const grav_problem problem{run.size_between(0, 2000)};
  force result;
  run.time([&] { region([&](auto c) { result = attraction(c, problem); }); });
  run.result(as_text(result));
}

const bench::registration registered{"grav", measure};

}  // namespace
