// SPDX-License-Identifier: Apache-2.0
// fft: the halves of a transform in parallel, then the halves of the loop that puts them together.
#include "kernels/fft.hpp"

#include "harness/harness.hpp"
#include "system.hpp"

namespace {

using kernels::fft_problem;
using kernels::wave;

void combine(auto c, const fft_problem& p, wave* to, std::size_t n, std::size_t first, std::size_t last) {
  if (last - first <= kernels::fft_leaf) return p.combine(to, n, first, last);
  const std::size_t middle = first + (last - first) / 2;
  c.fork2([&](auto below) { combine(below, p, to, n, first, middle); },
          [&](auto below) { combine(below, p, to, n, middle, last); });
}

void transform(auto c, const fft_problem& p, const wave* from, std::size_t step, wave* to, std::size_t n) {
  if (n <= kernels::fft_leaf) return p.transform(from, step, to, n);
  c.fork2([&](auto below) { transform(below, p, from, 2 * step, to, n / 2); },
          [&](auto below) { transform(below, p, from + step, 2 * step, to + n / 2, n / 2); });
  combine(c, p, to, n, 0, n / 2);
}

void measure(bench::run& run) {
  const int levels = run.size_between(1, 28);
  const std::size_t n = std::size_t{1} << levels;
  fft_problem problem(n);
  run.time(
      [&] { region([&](auto c) { transform(c, problem, problem.in.data(), 1, problem.out.data(), n); }); });
  run.result(problem.result());
}

const bench::registration registered{"fft", measure};

}  // namespace
