// SPDX-License-Identifier: Apache-2.0
// The recursive product that matmul and lu share.
#pragma once

#include "kernels/matrix.hpp"
#include "system.hpp"

/// c += sign · a · b. All sides are multiples of kernels::block.
template <int sign>
void multiply(auto here, kernels::view c, kernels::view a, kernels::view b) {
  using kernels::cut;
  const std::size_t m = c.rows, n = c.columns, k = a.columns;
  if (m == kernels::block && n == kernels::block && k == kernels::block)
    return kernels::multiply_block<sign>(c, a, b);
  if (m >= n && m >= k) {
    const std::size_t h = cut(m);
    here.fork2([&](auto below) { multiply<sign>(below, c.part(0, 0, h, n), a.part(0, 0, h, k), b); },
               [&](auto below) { multiply<sign>(below, c.part(h, 0, m - h, n), a.part(h, 0, m - h, k), b); });
  } else if (n >= k) {
    const std::size_t h = cut(n);
    here.fork2([&](auto below) { multiply<sign>(below, c.part(0, 0, m, h), a, b.part(0, 0, k, h)); },
               [&](auto below) { multiply<sign>(below, c.part(0, h, m, n - h), a, b.part(0, h, k, n - h)); });
  } else {
    const std::size_t h = cut(k);
    multiply<sign>(here, c, a.part(0, 0, m, h), b.part(0, 0, h, n));
    multiply<sign>(here, c, a.part(0, h, m, k - h), b.part(h, 0, k - h, n));
  }
}
