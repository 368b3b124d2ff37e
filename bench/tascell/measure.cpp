// SPDX-License-Identifier: Apache-2.0
// The benchmarks of the Tascell language: data and checks are those of the C++ programs.
#include "harness/harness.hpp"
#include "kernels/cmp.hpp"
#include "kernels/grav.hpp"
#include "kernels/matrix.hpp"
#include "problems.h"

#include <vector>

namespace {

using kernels::matrix;
using kernels::view;

static_assert(leaf_elements == kernels::cmp_leaf && leaf_side == kernels::block);

view of(const rectangle& r) { return {r.data, r.stride, r.rows, r.columns}; }
rectangle of(const view& v) { return {v.data, v.stride, v.rows, v.columns}; }

template <auto Function, int least, int most>
void count(bench::run& run) {
  const int n = run.size_between(least, most);
  std::int64_t result = 0;
  run.time([&] { result = Function(n); });
  run.result(result);
}

void cmp(bench::run& run) {
  const kernels::cmp_problem p(static_cast<std::size_t>(run.size_between(1, 1 << 24)));
  std::int64_t result = 0;
  run.time([&] { result = tascell_cmp(p.a.data(), p.a.size(), p.b.data(), p.b.size()); });
  if (result != p.expected()) throw bench::wrong_result("wrong number of pairs " + std::to_string(result));
  run.result(result);
}

void grav(bench::run& run) {
  const int n = run.size_between(0, 2000);
  force3 f{};
  run.time([&] { f = tascell_grav(n); });
  run.result(as_text(kernels::force{f.x, f.y, f.z}));
}

std::size_t side(const bench::run& run) {
  const int size = run.size_between(64, 16384);
  if (size % leaf_side != 0) throw bench::bad_argument("the size must be a multiple of 64");
  return static_cast<std::size_t>(size);
}

void matmul(bench::run& run) {
  const std::size_t n = side(run);
  matrix a(n, 1, 0), b(n, 2, 0), c(n);
  run.time([&] { tascell_multiply(of(c.all()), of(a.all()), of(b.all())); });
  const auto x = kernels::probe(n);
  if (!(kernels::relative_difference(a.times(b.times(x)), c.times(x)) < 1e-10))
    throw bench::wrong_result("the product is wrong");
  run.result(kernels::six_digits(c(n / 3, n / 2)));
}

void lu(bench::run& run) {
  const std::size_t n = side(run);
  matrix a(n, 3, static_cast<double>(n));
  const auto x = kernels::probe(n);
  const auto expected = a.times(x);
  run.time([&] { tascell_factorise(of(a.all())); });
  if (!(kernels::relative_difference(expected, kernels::product_of_factors(a, x)) < 1e-10))
    throw bench::wrong_result("the factors' product is not the matrix");
  run.result(kernels::six_digits(a(n - 1, n - 1)));
}

const bench::registration registered[]{{"fib", count<tascell_fib, 0, 60>},
                                       {"nqueens", count<tascell_queens, 1, 20>},
                                       {"nqueens-array", count<tascell_queens_array, 1, 20>},
                                       {"pentomino", count<tascell_pentomino, 12, 20>},
                                       {"cmp", cmp},
                                       {"grav", grav},
                                       {"matmul", matmul},
                                       {"lu", lu}};

}  // namespace

std::int64_t leaf_pairs(const std::uint32_t* a, std::size_t a_size, const std::uint32_t* b,
                        std::size_t b_size) {
  return kernels::equal_pairs({a, a_size}, {b, b_size});
}
force3 leaf_line(int n, int x, int y) {
  const kernels::force f = kernels::grav_problem{n}.line(x, y);
  return {f.x, f.y, f.z};
}
void leaf_multiply(int sign, const rectangle* c, const rectangle* a, const rectangle* b) {
  sign > 0 ? kernels::multiply_block<1>(of(*c), of(*a), of(*b))
           : kernels::multiply_block<-1>(of(*c), of(*a), of(*b));
}
void leaf_factorise(const rectangle* a) { kernels::factorise_block(of(*a)); }
void leaf_solve_lower(const rectangle* l, const rectangle* b) { kernels::solve_lower_block(of(*l), of(*b)); }
void leaf_solve_upper(const rectangle* u, const rectangle* b) { kernels::solve_upper_block(of(*u), of(*b)); }
