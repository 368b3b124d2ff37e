// SPDX-License-Identifier: Apache-2.0
// sparselu: for each block of the diagonal two loops, over the blocks beside it and over those that change.
#include "kernels/sparselu.hpp"

#include "harness/harness.hpp"
#include "system.hpp"

namespace {

void factorise(kernels::sparse_matrix& a) {
  const int n = static_cast<int>(a.n);
  for (int k = 0; k < n; ++k) {
    const auto diagonal = static_cast<std::size_t>(k);
    kernels::factorise_diagonal(a.at(diagonal, diagonal));
    // The row to the right, and the column below.
    loop(0, 2 * (n - k - 1), [&a, n, k, diagonal](int i) {
      const bool right = i < n - k - 1;
      const auto other = static_cast<std::size_t>(right ? k + 1 + i : k + 1 + i - (n - k - 1));
      float* const block = right ? a.at(diagonal, other) : a.at(other, diagonal);
      if (block == nullptr) return;
      if (right)
        kernels::solve_right(a.at(diagonal, diagonal), block);
      else
        kernels::solve_below(a.at(diagonal, diagonal), block);
    });
    // The blocks to the right and below, a row of blocks in each iteration.
    loop(k + 1, n, [&a, diagonal](int row) {
      const auto i = static_cast<std::size_t>(row);
      const float* const below = a.at(i, diagonal);
      if (below == nullptr) return;
      for (std::size_t j = diagonal + 1; j < a.n; ++j) {
        const float* const right = a.at(diagonal, j);
        if (right == nullptr) continue;
        float* to = a.at(i, j);
        if (to == nullptr) to = a.make(i, j);
        kernels::subtract_product(below, right, to);
      }
    });
  }
}

void measure(bench::run& run) {
  kernels::sparse_matrix a(static_cast<std::size_t>(run.size_between(1, 1000)));
  run.time([&] { factorise(a); });
  run.result(a.result());
}

const bench::registration registered{"sparselu", measure};

}  // namespace
