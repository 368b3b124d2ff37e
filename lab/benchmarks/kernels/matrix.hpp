// SPDX-License-Identifier: Apache-2.0
// Dense matrices for matmul and lu: views, a fixed-seed generator, and the blocks at the leaves of the
// recursions.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "kernels/random.hpp"

namespace kernels {

/// A rectangle of a row-major matrix.
struct view {
  double* data = nullptr;
  std::size_t stride = 0;
  std::size_t rows = 0, columns = 0;

  [[nodiscard]] double* row(std::size_t i) const { return data + i * stride; }
  [[nodiscard]] view part(std::size_t i, std::size_t j, std::size_t r, std::size_t c) const {
    return {row(i) + j, stride, r, c};
  }
};

/// Sides of the blocks at which the recursions end; sizes are multiples of this.
inline constexpr std::size_t block = 64;

/// A square matrix of elements in [-1, 1) from a fixed seed; `diagonal` is added to the diagonal.
class matrix {
 public:
  matrix(std::size_t n, std::uint64_t seed, double diagonal) : n_(n), elements_(n * n) {
    random_numbers random(seed);
    for (double& x : elements_) x = random.real() * 2 - 1;
    for (std::size_t i = 0; i < n; ++i) elements_[i * n + i] += diagonal;
  }
  explicit matrix(std::size_t n) : n_(n), elements_(n * n) {}

  [[nodiscard]] std::size_t n() const { return n_; }
  [[nodiscard]] view all() { return {elements_.data(), n_, n_, n_}; }
  [[nodiscard]] double operator()(std::size_t i, std::size_t j) const { return elements_[i * n_ + j]; }

  /// The matrix times x.
  [[nodiscard]] std::vector<double> times(const std::vector<double>& x) const {
    std::vector<double> y(n_);
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t j = 0; j < n_; ++j) y[i] += elements_[i * n_ + j] * x[j];
    return y;
  }

 private:
  std::size_t n_;
  std::vector<double> elements_;
};

/// A vector for checking products: the same for every system.
inline std::vector<double> probe(std::size_t n) {
  std::vector<double> x(n);
  random_numbers random(7);
  for (double& e : x) e = random.real();
  return x;
}

/// L · (U · x), from a factorised matrix.
inline std::vector<double> product_of_factors(const matrix& lu, const std::vector<double>& x) {
  const std::size_t n = lu.n();
  std::vector<double> y(n), z(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i; j < n; ++j) y[i] += lu(i, j) * x[j];
  for (std::size_t i = 0; i < n; ++i) {
    z[i] = y[i];
    for (std::size_t j = 0; j < i; ++j) z[i] += lu(i, j) * y[j];
  }
  return z;
}

/// Returns the greatest difference between two vectors, relative to the greatest element of the first.
inline double relative_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double greatest = 0, difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    greatest = std::fmax(greatest, std::fabs(a[i]));
    difference = std::fmax(difference, std::fabs(a[i] - b[i]));
  }
  return difference / greatest;
}

/// Returns a number as text with six digits, coarse enough to be the same for every order of summation.
inline std::string six_digits(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.5e", x);
  return text;
}

/// Two neighbouring elements. This is a vector type, because g++ does not keep a 4×4 array in registers by
/// itself.
typedef double element_pair __attribute__((vector_size(16), aligned(8), may_alias));

/// c += sign · a · b for blocks, in 4×4 tiles that stay in registers. The sides are multiples of 4. It is not
/// inlined, because then the innermost loop would have too few registers left by the caller.
template <int sign>
[[gnu::noinline]] void multiply_block(view c, view a, view b) {
  for (std::size_t i = 0; i < c.rows; i += 4)
    for (std::size_t j = 0; j < c.columns; j += 4) {
      element_pair tile[4][2] = {};
      for (std::size_t k = 0; k < a.columns; ++k) {
        const auto* from = reinterpret_cast<const element_pair*>(b.row(k) + j);
        const element_pair left = from[0], right = from[1];
#pragma GCC unroll 4
        for (std::size_t y = 0; y < 4; ++y) {
          const double factor = a.row(i + y)[k];
          tile[y][0] += factor * left;
          tile[y][1] += factor * right;
        }
      }
      for (std::size_t y = 0; y < 4; ++y)
        for (std::size_t x = 0; x < 4; ++x) c.row(i + y)[j + x] += sign * tile[y][x / 2][x % 2];
    }
}

/// Replaces a square block by its factors L (unit lower triangle) and U, without exchanging rows.
inline void factorise_block(view a) {
  for (std::size_t k = 0; k < a.rows; ++k)
    for (std::size_t i = k + 1; i < a.rows; ++i) {
      const double f = a.row(i)[k] /= a.row(k)[k];
      for (std::size_t j = k + 1; j < a.columns; ++j) a.row(i)[j] -= f * a.row(k)[j];
    }
}

/// b := L⁻¹ · b, where L is the unit lower triangle of the square block l.
inline void solve_lower_block(view l, view b) {
  for (std::size_t k = 0; k < l.rows; ++k)
    for (std::size_t i = k + 1; i < l.rows; ++i) {
      const double f = l.row(i)[k];
      for (std::size_t j = 0; j < b.columns; ++j) b.row(i)[j] -= f * b.row(k)[j];
    }
}

/// b := b · U⁻¹, where U is the upper triangle of the square block u.
inline void solve_upper_block(view u, view b) {
  for (std::size_t i = 0; i < b.rows; ++i)
    for (std::size_t k = 0; k < u.rows; ++k) {
      const double f = b.row(i)[k] /= u.row(k)[k];
      for (std::size_t j = k + 1; j < u.columns; ++j) b.row(i)[j] -= f * u.row(k)[j];
    }
}

/// Returns where a side of n is cut: at half, rounded up to whole blocks.
inline std::size_t cut(std::size_t n) { return (n / block + 1) / 2 * block; }

}  // namespace kernels
