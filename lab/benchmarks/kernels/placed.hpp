// SPDX-License-Identifier: Apache-2.0
// The data of the programs with which the paper on Schematic measures hints: vectors and binary trees, each
// in its own place. The thread that calls `fill` touches their pages first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "kernels/random.hpp"

namespace kernels {

/// ReadVector: a vector that is read from the first element to the last one.
class read_vector {
 public:
  static constexpr std::size_t block_elements = 4096;

  explicit read_vector(std::size_t elements) : size_(elements), elements_(new std::uint32_t[elements]) {}

  /// Makes elements from a seed. \returns their sum
  std::uint64_t fill(std::uint64_t seed) {
    random_numbers random(seed);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < size_; ++i) sum += elements_[i] = static_cast<std::uint32_t>(random.bits());
    return sum;
  }
  [[nodiscard]] int blocks() const { return static_cast<int>((size_ + block_elements - 1) / block_elements); }
  [[nodiscard]] std::uint64_t sum_of_block(int number) const {
    const std::size_t from = static_cast<std::size_t>(number) * block_elements;
    const std::size_t to = std::min(size_, from + block_elements);
    return std::accumulate(&elements_[from], &elements_[to], std::uint64_t{0});
  }

 private:
  std::size_t size_;
  std::unique_ptr<std::uint32_t[]> elements_;
};

/// BinTree: a complete binary tree whose nodes, of 32 bytes, have an order that is useless to a prefetcher.
class bin_tree {
 public:
  struct node {
    const node* left;  ///< null: a leaf; then right is null, too
    const node* right;
    std::uint64_t value;
    std::uint64_t unused;
  };
  static_assert(sizeof(node) == 32);

  /// \param levels of nodes, at least 1
  explicit bin_tree(int levels) : count_((std::size_t{1} << levels) - 1), nodes_(new node[count_]) {}

  /// Makes the nodes from a seed. \returns the sum of their values
  std::uint64_t fill(std::uint64_t seed) {
    random_numbers random(seed);
    std::vector<std::uint32_t> at(count_);
    std::iota(at.begin(), at.end(), 0U);
    for (std::size_t i = count_; i > 1; --i) std::swap(at[i - 1], at[random.below(i)]);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      const bool is_leaf = 2 * i + 1 >= count_;
      const std::uint64_t value = random.bits() >> 32;
      nodes_[at[i]] = {is_leaf ? nullptr : &nodes_[at[2 * i + 1]], is_leaf ? nullptr : &nodes_[at[2 * i + 2]],
                       value, 0};
      sum += value;
    }
    root_ = &nodes_[at[0]];
    return sum;
  }
  [[nodiscard]] const node& root() const { return *root_; }

 private:
  std::size_t count_;
  std::unique_ptr<node[]> nodes_;
  const node* root_ = nullptr;
};

}  // namespace kernels
