// SPDX-License-Identifier: Apache-2.0
// The discrete Fourier transform of 2^k complex numbers by halves (J. Cooley, J. Tukey, 1965), as in the
// Barcelona OpenMP Tasks Suite: data, the sequential pieces, and the check.
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdio>
#include <numbers>
#include <string>
#include <vector>

#include "harness/harness.hpp"
#include "kernels/random.hpp"

namespace kernels {

using wave = std::complex<double>;

inline constexpr std::size_t fft_leaf = 2048;  // numbers that are transformed, or combined, without forking

struct fft_problem {
  std::vector<wave> in, out, roots;  ///< roots[i] is the i-th of the n-th roots of one, the first half

  explicit fft_problem(std::size_t n) : in(n), out(n), roots(n / 2) {
    random_numbers random(11);
    for (auto& x : in) x = {random.real() - 0.5, random.real() - 0.5};
    for (std::size_t i = 0; i < n / 2; ++i)
      roots[i] = std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n));
  }

  /// Combines the two halves of a result of n numbers in place, from number `first` of a half up to `last`.
  void combine(wave* to, std::size_t n, std::size_t first, std::size_t last) const {
    const std::size_t half = n / 2, step = roots.size() / half;
    for (std::size_t i = first; i < last; ++i) {
      const wave a = to[i], b = to[i + half], r = roots[i * step];
      // Omits the check for infinity that the operator has.
      const wave turned{b.real() * r.real() - b.imag() * r.imag(), b.real() * r.imag() + b.imag() * r.real()};
      to[i] = a + turned;
      to[i + half] = a - turned;
    }
  }

  /// Transforms n numbers of `from`, taking every `step`-th one.
  void transform(const wave* from, std::size_t step, wave* to, std::size_t n) const {
    if (n == 1) {
      *to = *from;
      return;
    }
    transform(from, 2 * step, to, n / 2);
    transform(from + step, 2 * step, to + n / 2, n / 2);
    combine(to, n, 0, n / 2);
  }

  /// \throws bench::wrong_result if the result's energy differs from that of the numbers (Parseval's theorem)
  [[nodiscard]] std::string result() const {
    double before = 0, after = 0, sum = 0;
    for (const wave& x : in) before += std::norm(x);
    for (const wave& x : out) after += std::norm(x), sum += std::abs(x);
    if (!(std::fabs(after / (before * static_cast<double>(in.size())) - 1) < 1e-9))
      throw bench::wrong_result("the transform has not the energy of the numbers");
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", sum);
    return text;
  }
};

}  // namespace kernels
