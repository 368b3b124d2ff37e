// SPDX-License-Identifier: Apache-2.0
// A product of matrices by seven products of quarters (V. Strassen, 1969) with fifteen sums (S. Winograd,
// 1971), as in the Barcelona OpenMP Tasks Suite: the sums, and the products of quarters that remain.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>

#include "kernels/matrix.hpp"

namespace kernels {

inline constexpr std::size_t strassen_leaf = 128;  // rows of the matrices that are multiplied as usual

/// to = a · b, by the usual method.
inline void multiply_plainly(view to, view a, view b) {
  for (std::size_t i = 0; i < to.rows; ++i) std::fill_n(to.row(i), to.columns, 0.0);
  for (std::size_t i = 0; i < to.rows; i += block)
    for (std::size_t j = 0; j < to.columns; j += block)
      for (std::size_t k = 0; k < a.columns; k += block)
        multiply_block<1>(to.part(i, j, block, block), a.part(i, k, block, block),
                          b.part(k, j, block, block));
}

/// One step of `to` = a · b for square matrices of even size. Its parts must run in this order: set_sums for
/// all pieces, then the seven products, then combine for all pieces. Parts of the same kind are independent.
class strassen_step {
 public:
  strassen_step(view to, view a, view b)
      : half_(to.rows / 2),
        memory_(std::make_unique_for_overwrite<double[]>(temporaries * half_ * half_)),
        to_(quarters(to)),
        a_(quarters(a)),
        b_(quarters(b)) {}

  /// Number of pieces; a piece has as many rows as a block.
  [[nodiscard]] int pieces() const { return static_cast<int>(half_ / block); }

  /// Computes the sums of quarters of a and of quarters of b, in the rows of a piece.
  void set_sums(int piece) const {
    for_rows(piece, [this](std::size_t i) {
      const double *const a11 = a_[0].row(i), *const a12 = a_[1].row(i), *const a21 = a_[2].row(i),
                          *const a22 = a_[3].row(i);
      const double *const b11 = b_[0].row(i), *const b12 = b_[1].row(i), *const b21 = b_[2].row(i),
                          *const b22 = b_[3].row(i);
      const std::array<double*, 4> s = rows_of(0, i), t = rows_of(4, i);
      for (std::size_t j = 0; j < half_; ++j) {
        s[0][j] = a21[j] + a22[j];
        s[1][j] = s[0][j] - a11[j];
        s[2][j] = a11[j] - a21[j];
        s[3][j] = a12[j] - s[1][j];
      }
      for (std::size_t j = 0; j < half_; ++j) {
        t[0][j] = b12[j] - b11[j];
        t[1][j] = b22[j] - t[0][j];
        t[2][j] = b22[j] - b12[j];
        t[3][j] = t[1][j] - b21[j];
      }
    });
  }

  static constexpr int products = 7;
  struct product {
    view to, a, b;
  };
  /// Returns one of the seven products to compute. Four of them have their place in a quarter of the result.
  [[nodiscard]] product product_of(int which) const {
    switch (which) {
      case 0:
        return {temporary(8), a_[0], b_[0]};
      case 1:
        return {to_[0], a_[1], b_[2]};
      case 2:
        return {to_[1], temporary(3), b_[3]};
      case 3:
        return {to_[2], a_[3], temporary(7)};
      case 4:
        return {to_[3], temporary(0), temporary(4)};
      case 5:
        return {temporary(9), temporary(1), temporary(5)};
      default:
        return {temporary(10), temporary(2), temporary(6)};
    }
  }

  /// Computes the result from the products, in the rows of a piece.
  void combine(int piece) const {
    for_rows(piece, [this](std::size_t i) {
      double *const to11 = to_[0].row(i), *const to12 = to_[1].row(i), *const to21 = to_[2].row(i),
                    *const to22 = to_[3].row(i);
      const double *const first = temporary(8).row(i), *const sixth = temporary(9).row(i),
                          *const seventh = temporary(10).row(i);
      for (std::size_t j = 0; j < half_; ++j) {
        const double u2 = first[j] + sixth[j], u3 = u2 + seventh[j], fifth = to22[j];
        to11[j] += first[j];
        to12[j] += u2 + fifth;
        to21[j] = u3 - to21[j];
        to22[j] = u3 + fifth;
      }
    });
  }

 private:
  static constexpr std::size_t temporaries = 11;  // four sums each of a and b, three products

  static std::array<view, 4> quarters(view m) {
    const std::size_t h = m.rows / 2;
    return {m.part(0, 0, h, h), m.part(0, h, h, h), m.part(h, 0, h, h), m.part(h, h, h, h)};
  }
  [[nodiscard]] view temporary(std::size_t i) const {
    return {memory_.get() + i * half_ * half_, half_, half_, half_};
  }
  [[nodiscard]] std::array<double*, 4> rows_of(std::size_t first, std::size_t i) const {
    return {temporary(first).row(i), temporary(first + 1).row(i), temporary(first + 2).row(i),
            temporary(first + 3).row(i)};
  }
  template <class F>
  static void for_rows(int piece, F f) {
    const std::size_t first = static_cast<std::size_t>(piece) * block;
    for (std::size_t i = first; i < first + block; ++i) f(i);
  }

  std::size_t half_;
  std::unique_ptr<double[]> memory_;
  std::array<view, 4> to_, a_, b_;
};

}  // namespace kernels
