// SPDX-License-Identifier: Apache-2.0
// neighbours: the halves of the tree in parallel, then a loop over the points. The system selects the middle
// point if it can, otherwise a function does that is faster than the standard library's.
#include "kernels/neighbours.hpp"
#include "kernels/select.hpp"

#include "harness/harness.hpp"
#include "system.hpp"

namespace {

using kernels::neighbours_problem;

void order(auto c, neighbours_problem& p, std::size_t first, std::size_t last, unsigned axis) {
  const auto select = [=](auto begin, auto nth, auto end, auto less) {
    if constexpr (requires { c.nth_element(begin, nth, end, less); })
      c.nth_element(begin, nth, end, less);
    else
      kernels::select(begin, nth, end, less);
  };
  if (last - first <= kernels::neighbours_grain) return p.order(first, last, axis, select);
  p.divide(first, last, axis, select);
  const std::size_t middle = neighbours_problem::middle(first, last);
  c.fork2([&](auto below) { order(below, p, first, middle, neighbours_problem::next(axis)); },
          [&](auto below) { order(below, p, middle + 1, last, neighbours_problem::next(axis)); });
}

void measure(bench::run& run) {
  const int n = run.size_between(2, 100'000'000);
  neighbours_problem problem(static_cast<std::size_t>(n));
  run.time([&] {
    region([&](auto c) { order(c, problem, 0, problem.points(), 0); });
    loop(0, n, [&problem](int i) { problem.find(i); });
  });
  run.result(problem.result());
}

const bench::registration registered{"neighbours", measure};

}  // namespace
