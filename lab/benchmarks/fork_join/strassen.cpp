// SPDX-License-Identifier: Apache-2.0
// strassen: in each step the rows of the sums, the seven products, and the rows of the result.
#include "kernels/strassen.hpp"

#include <bit>

#include "harness/harness.hpp"
#include "system.hpp"

namespace {

using kernels::strassen_step;
using kernels::view;

void multiply(auto c, view to, view a, view b) {
  if (to.rows <= kernels::strassen_leaf) return kernels::multiply_plainly(to, a, b);
  const strassen_step step(to, a, b);
  c.each(0, step.pieces(), [&step](auto, int piece) { step.set_sums(piece); });
  c.each(0, strassen_step::products, [&step](auto below, int which) {
    const auto p = step.product_of(which);
    multiply(below, p.to, p.a, p.b);
  });
  c.each(0, step.pieces(), [&step](auto, int piece) { step.combine(piece); });
}

void measure(bench::run& run) {
  const auto n = static_cast<std::size_t>(run.size_between(64, 16384));
  if (!std::has_single_bit(n))
    throw bench::bad_argument("the size must be a power of two: use --size 64, 128, 256, … 16384");
  kernels::matrix a(n, 1, 0), b(n, 2, 0), c(n);
  run.time([&] { region([&](auto top) { multiply(top, c.all(), a.all(), b.all()); }); });
  const auto x = kernels::probe(n);
  const auto expected = a.times(b.times(x)), got = c.times(x);
  if (!(kernels::relative_difference(expected, got) < 1e-9))
    throw bench::wrong_result("the product is wrong");
  run.result(kernels::six_digits(c(n / 3, n / 2)));
}

const bench::registration registered{"strassen", measure};

}  // namespace
