// SPDX-License-Identifier: Apache-2.0
// LU factorisation of a matrix of blocks, most of them empty: SparseLU of the Barcelona OpenMP Tasks Suite
// (A. Duran et al., ICPP 2009), with that suite's pattern of blocks.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "kernels/random.hpp"

namespace kernels {

inline constexpr std::size_t sparse_block = 40;  // rows and columns of a block

/// A square of numbers, row by row.
using block_numbers = float[sparse_block * sparse_block];

struct sparse_matrix {
  std::size_t n;  // blocks in a row
  std::vector<std::unique_ptr<block_numbers>> blocks;

  explicit sparse_matrix(std::size_t blocks_in_a_row) : n(blocks_in_a_row), blocks(n * n) {
    random_numbers random(9);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        if (is_empty_at_first(i, j)) continue;
        float* const b = make(i, j);
        for (std::size_t k = 0; k < sparse_block * sparse_block; ++k)
          b[k] = static_cast<float>(random.real() - 0.5);
        // Makes the diagonal dominate, so that no rows need to be exchanged.
        for (std::size_t k = 0; i == j && k < sparse_block; ++k)
          b[k * sparse_block + k] += static_cast<float>(sparse_block * n);
      }
  }

  /// The suite's pattern.
  static bool is_empty_at_first(std::size_t i, std::size_t j) {
    if (i == j || i + 1 == j || i == j + 1) return false;
    return (i < j && i % 3 != 0) || (i > j && j % 3 != 0) || i % 2 == 1 || j % 2 == 1;
  }

  float* at(std::size_t i, std::size_t j) { return blocks[i * n + j] ? *blocks[i * n + j] : nullptr; }
  /// A block of zeros.
  float* make(std::size_t i, std::size_t j) {
    blocks[i * n + j] = std::unique_ptr<block_numbers>(new block_numbers[1]{});
    return *blocks[i * n + j];
  }

  /// Returns a text with six digits. Every program computes the same sums in the same order.
  std::string result() {
    double sum = 0;
    for (std::size_t i = 0; i < n * n; ++i)
      for (std::size_t k = 0; blocks[i] && k < sparse_block * sparse_block; ++k)
        sum += std::fabs((*blocks[i])[k]);
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", sum);
    return text;
  }
};

/// Replaces a diagonal block by its factors.
inline void factorise_diagonal(float* d) {
  constexpr std::size_t b = sparse_block;
  for (std::size_t k = 0; k < b; ++k)
    for (std::size_t i = k + 1; i < b; ++i) {
      d[i * b + k] /= d[k * b + k];
      for (std::size_t j = k + 1; j < b; ++j) d[i * b + j] -= d[i * b + k] * d[k * b + j];
    }
}

/// Solves for a block to the right of the diagonal one.
inline void solve_right(const float* d, float* right) {
  constexpr std::size_t b = sparse_block;
  for (std::size_t k = 0; k < b; ++k)
    for (std::size_t i = k + 1; i < b; ++i)
      for (std::size_t j = 0; j < b; ++j) right[i * b + j] -= d[i * b + k] * right[k * b + j];
}

/// Solves for a block below the diagonal one.
inline void solve_below(const float* d, float* below) {
  constexpr std::size_t b = sparse_block;
  for (std::size_t i = 0; i < b; ++i)
    for (std::size_t k = 0; k < b; ++k) {
      below[i * b + k] /= d[k * b + k];
      for (std::size_t j = k + 1; j < b; ++j) below[i * b + j] -= below[i * b + k] * d[k * b + j];
    }
}

/// to -= below · right
inline void subtract_product(const float* below, const float* right, float* to) {
  constexpr std::size_t b = sparse_block;
  for (std::size_t i = 0; i < b; ++i)
    for (std::size_t k = 0; k < b; ++k)
      for (std::size_t j = 0; j < b; ++j) to[i * b + j] -= below[i * b + k] * right[k * b + j];
}

}  // namespace kernels
