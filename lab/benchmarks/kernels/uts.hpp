// SPDX-License-Identifier: Apache-2.0
// Unbalanced tree search: counts the nodes of an implicit random tree (S. Olivier et al., "UTS: An Unbalanced
// Tree Search Benchmark", LCPC 2006). A node is a SHA-1 digest; child i is the digest of its parent's 20
// bytes and i. The trees and their node counts are the published ones.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "kernels/sha1.hpp"

namespace kernels {

enum class tree_shape { binomial, linear, cyclic, fixed };

/// The parameters of the published samples T1 … T5, T1L and T3L.
struct uts_tree {
  tree_shape shape = tree_shape::fixed;
  double root_degree = 4;  // b0: the expected number of children at the root (binomial: the exact number)
  int depth = 10;  // level at which a geometric tree ends
  double probability = 0;  // binomial: that a node below the root has children, and how many
  int degree = 0;
  std::uint32_t seed = 0;
};

inline constexpr int most_geometric_children = 100;

/// Returns the tree of that size number: 1, 2, 3 and 5 are T1, T2, T3 and T5 (about 4 million nodes each), 11
/// and 13 are T1L and T3L (about 100 million), 101 and 103 are small ones of the same shapes for tests. seed
/// 0: there is no such tree.
inline uts_tree published_tree(std::int64_t number) {
  switch (number) {
    case 1:
      return {tree_shape::fixed, 4, 10, 0, 0, 19};
    case 2:
      return {tree_shape::cyclic, 6, 16, 0, 0, 502};
    case 3:
      return {tree_shape::binomial, 2000, 0, 0.124875, 8, 42};
    case 5:
      return {tree_shape::linear, 4, 20, 0, 0, 34};
    case 11:
      return {tree_shape::fixed, 4, 13, 0, 0, 29};
    case 13:
      return {tree_shape::binomial, 2000, 0, 0.200014, 5, 7};
    case 101:
      return {tree_shape::fixed, 4, 5, 0, 0, 19};
    case 103:
      return {tree_shape::binomial, 200, 0, 0.124, 8, 42};
    default:
      return {};
  }
}

inline constexpr const char* uts_sizes =
    "no such tree: use --size 1, 2, 3 or 5 (T1, T2, T3, T5), 11 or 13 (T1L, T3L), 101 or 103 (small ones)";

struct uts_node {
  sha1_digest state{};
  int height = 0;
};

inline uts_node uts_root(const uts_tree& tree) { return {sha1_of_words<5>({0, 0, 0, 0, tree.seed}), 0}; }

inline uts_node uts_child(const uts_node& parent, int i) {
  const auto& s = parent.state;
  return {sha1_of_words<6>({s[0], s[1], s[2], s[3], s[4], static_cast<std::uint32_t>(i)}), parent.height + 1};
}

/// Returns the number of children, which depends only on the digest's last 31 bits and the height.
inline int uts_children(const uts_tree& tree, const uts_node& node) {
  const double random = static_cast<double>(node.state[4] & 0x7fff'ffffU) / 2147483648.0;
  if (tree.shape == tree_shape::binomial) {
    if (node.height == 0) return static_cast<int>(tree.root_degree);
    return random < tree.probability ? tree.degree : 0;
  }
  double expected = tree.root_degree;
  const double height = node.height, depth = tree.depth;
  switch (tree.shape) {
    case tree_shape::fixed:
      expected = node.height < tree.depth ? tree.root_degree : 0;
      break;
    case tree_shape::linear:
      expected = tree.root_degree * (1.0 - height / depth);
      break;
    case tree_shape::cyclic:
      if (node.height > 5 * tree.depth)
        expected = 0;
      else if (node.height > 0)
        expected = std::pow(tree.root_degree, std::sin(2 * std::numbers::pi * height / depth));
      break;
    case tree_shape::binomial:
      break;
  }
  const double p = 1.0 / (1.0 + expected);
  const int children = static_cast<int>(std::floor(std::log(1 - random) / std::log(1 - p)));
  return children < most_geometric_children ? children : most_geometric_children;
}

}  // namespace kernels
