// SPDX-License-Identifier: Apache-2.0
// Heat in a square plate: thousands of short time steps, each a loop over the rows of a grid.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/matrix.hpp"

namespace kernels {

/// The temperatures of n × n points. The first row is kept at 1, the rest of the edge at 0.
struct heat_problem {
  std::size_t n;
  std::vector<double> now, next;

  explicit heat_problem(std::size_t edge) : n(edge), now(edge * edge), next(edge * edge) {
    std::fill_n(now.begin(), n, 1.0);
    std::fill_n(next.begin(), n, 1.0);
  }

  /// Time steps of one run: about 6 · 10⁸ points altogether, a few hundred milliseconds.
  [[nodiscard]] std::size_t steps() const {
    return std::clamp<std::size_t>(600'000'000 / (n * n), 50, 100'000);
  }

  /// One row of a time step, 1 … n - 2.
  void step_row(int row) {
    const std::size_t at = static_cast<std::size_t>(row) * n;
    step(&now[at - n], &now[at], &now[at + n], &next[at], n);
  }

  void finish_step() { now.swap(next); }

  /// The mean temperature; six digits, so that the compilers' ways to add up do not matter.
  [[nodiscard]] std::string result() const {
    double sum = 0;
    for (const double t : now) sum += t;
    return six_digits(sum / static_cast<double>(n * n));
  }

 private:
  [[gnu::noinline]] static void step(const double* __restrict above, const double* __restrict here,
                                     const double* __restrict below, double* __restrict to, std::size_t n) {
    for (std::size_t i = 1; i + 1 < n; ++i)
      to[i] = here[i] + 0.2 * (above[i] + below[i] + here[i - 1] + here[i + 1] - 4 * here[i]);
  }
};

}  // namespace kernels
