// SPDX-License-Identifier: Apache-2.0
// matmul: c = a · b by recursive halving of the longest side; halves of c are forked.
#include "fork_join/multiply.hpp"
#include "harness/harness.hpp"

namespace {

void measure(bench::run& run) {
  const int size = run.size_between(64, 16384);
  if (size % static_cast<int>(kernels::block) != 0)
    throw bench::bad_argument("the size must be a multiple of 64");
  const auto n = static_cast<std::size_t>(size);
  kernels::matrix a(n, 1, 0), b(n, 2, 0), c(n);
  run.time([&] { region([&](auto top) { multiply<1>(top, c.all(), a.all(), b.all()); }); });
  const auto x = kernels::probe(n);
  const auto expected = a.times(b.times(x)), got = c.times(x);
  if (!(kernels::relative_difference(expected, got) < 1e-10))
    throw bench::wrong_result("the product is wrong");
  run.result(kernels::six_digits(c(n / 3, n / 2)));
}

const bench::registration registered{"matmul", measure};

}  // namespace
