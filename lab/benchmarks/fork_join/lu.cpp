// SPDX-License-Identifier: Apache-2.0
// lu: cache-oblivious recursive LU factorisation without exchanging rows (the matrix is diagonally dominant).
#include "fork_join/multiply.hpp"
#include "harness/harness.hpp"

namespace {

using kernels::cut;
using kernels::matrix;
using kernels::view;

// b := L⁻¹ · b, where L is the unit lower triangle of l.
void solve_lower(auto here, view l, view b) {
  const std::size_t n = l.rows, m = b.columns;
  if (m > kernels::block) {
    const std::size_t h = cut(m);
    here.fork2([&](auto below) { solve_lower(below, l, b.part(0, 0, n, h)); },
               [&](auto below) { solve_lower(below, l, b.part(0, h, n, m - h)); });
  } else if (n > kernels::block) {
    const std::size_t h = cut(n);
    const view top = b.part(0, 0, h, m), bottom = b.part(h, 0, n - h, m);
    solve_lower(here, l.part(0, 0, h, h), top);
    multiply<-1>(here, bottom, l.part(h, 0, n - h, h), top);
    solve_lower(here, l.part(h, h, n - h, n - h), bottom);
  } else {
    kernels::solve_lower_block(l, b);
  }
}

// b := b · U⁻¹, where U is the upper triangle of u.
void solve_upper(auto here, view u, view b) {
  const std::size_t n = u.rows, m = b.rows;
  if (m > kernels::block) {
    const std::size_t h = cut(m);
    here.fork2([&](auto below) { solve_upper(below, u, b.part(0, 0, h, n)); },
               [&](auto below) { solve_upper(below, u, b.part(h, 0, m - h, n)); });
  } else if (n > kernels::block) {
    const std::size_t h = cut(n);
    const view left = b.part(0, 0, m, h), right = b.part(0, h, m, n - h);
    solve_upper(here, u.part(0, 0, h, h), left);
    multiply<-1>(here, right, left, u.part(0, h, h, n - h));
    solve_upper(here, u.part(h, h, n - h, n - h), right);
  } else {
    kernels::solve_upper_block(u, b);
  }
}

void factorise(auto here, view a) {
  const std::size_t n = a.rows;
  if (n == kernels::block) return kernels::factorise_block(a);
  const std::size_t h = cut(n);
  const view top_left = a.part(0, 0, h, h), top_right = a.part(0, h, h, n - h);
  const view bottom_left = a.part(h, 0, n - h, h), bottom_right = a.part(h, h, n - h, n - h);
  factorise(here, top_left);
  here.fork2([&](auto below) { solve_lower(below, top_left, top_right); },
             [&](auto below) { solve_upper(below, top_left, bottom_left); });
  multiply<-1>(here, bottom_right, bottom_left, top_right);
  factorise(here, bottom_right);
}

void measure(bench::run& run) {
  const int size = run.size_between(64, 16384);
  if (size % static_cast<int>(kernels::block) != 0)
    throw bench::bad_argument("the size must be a multiple of 64");
  const auto n = static_cast<std::size_t>(size);
  matrix a(n, 3, static_cast<double>(n));
  const auto x = kernels::probe(n);
  const auto expected = a.times(x);
  run.time([&] { region([&](auto c) { factorise(c, a.all()); }); });
  if (!(kernels::relative_difference(expected, kernels::product_of_factors(a, x)) < 1e-10))
    throw bench::wrong_result("the factors' product is not the matrix");
  run.result(kernels::six_digits(a(n - 1, n - 1)));
}

const bench::registration registered{"lu", measure};

}  // namespace
