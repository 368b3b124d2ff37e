// SPDX-License-Identifier: Apache-2.0
// Heat in a square plate: thousands of short time steps, each a loop over the rows of a grid.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/matrix.hpp"

namespace kernels {

/// The temperatures of n × n points. The first row is kept at 1, and the rest of the edge at 0.
///
/// A row's address modulo 4096 differs from those of its neighbours and of the row that is written. If these
/// bits were equal, a CPU would assume that a load depends on a recent store. Then the addresses that malloc
/// returns for the two grids would change the speed by a third.
struct heat_problem {
  std::size_t n;

  explicit heat_problem(std::size_t edge)
      : n(edge), row_((edge + line - 1) / line * line + line), memory_(2 * (row_ * edge + page)) {
    void* first = memory_.data();
    std::size_t space = memory_.size() * sizeof(double);
    now_ = static_cast<double*>(std::align(page * sizeof(double), sizeof(double), first, space));
    next_ = now_ + (row_ * n + page / 2 + page - 1) / page * page - page / 2;
    std::fill_n(now_, n, 1.0);
    std::fill_n(next_, n, 1.0);
  }
  heat_problem(const heat_problem&) = delete;
  heat_problem& operator=(const heat_problem&) = delete;

  /// Time steps of one run: about 6 · 10⁸ points altogether, a few hundred milliseconds.
  [[nodiscard]] std::size_t steps() const {
    return std::clamp<std::size_t>(600'000'000 / (n * n), 50, 100'000);
  }

  /// One row of a time step, 1 … n - 2.
  void step_row(int row) {
    const std::size_t at = static_cast<std::size_t>(row) * row_;
    step(now_ + at - row_, now_ + at, now_ + at + row_, next_ + at, n);
  }

  void finish_step() { std::swap(now_, next_); }

  /// Returns the mean temperature with six digits, so that the compilers' orders of summation do not matter.
  [[nodiscard]] std::string result() const {
    double sum = 0;
    for (std::size_t row = 0; row < n; ++row)
      for (std::size_t i = 0; i < n; ++i) sum += now_[row * row_ + i];
    return six_digits(sum / static_cast<double>(n * n));
  }

 private:
  [[gnu::noinline]] static void step(const double* __restrict above, const double* __restrict here,
                                     const double* __restrict below, double* __restrict to, std::size_t n) {
    for (std::size_t i = 1; i + 1 < n; ++i)
      to[i] = here[i] + 0.2 * (above[i] + below[i] + here[i - 1] + here[i + 1] - 4 * here[i]);
  }

  // In doubles:
  static constexpr std::size_t line = 8;  ///< 64 bytes
  static constexpr std::size_t page = 512;  ///< 4096 bytes

  std::size_t row_;  ///< distance from one row to the next
  std::vector<double> memory_;
  double* now_;
  double* next_;
};

}  // namespace kernels
