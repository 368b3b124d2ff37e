// SPDX-License-Identifier: Apache-2.0
// All pairs: counts the pairs of equal elements of two arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "kernels/random.hpp"

namespace kernels {

/// Lengths at which the recursive halving ends.
inline constexpr std::size_t cmp_leaf = 128;

struct cmp_problem {
  std::vector<std::uint32_t> a, b;

  explicit cmp_problem(std::size_t n) : a(n), b(n) {
    random_numbers random(4);
    for (auto& x : a) x = random.below(n);
    for (auto& x : b) x = random.below(n);
  }

  /// Returns the same count, computed by hashing.
  [[nodiscard]] std::int64_t expected() const {
    std::unordered_map<std::uint32_t, std::int64_t> times;
    for (const auto x : a) ++times[x];
    std::int64_t pairs = 0;
    for (const auto x : b)
      if (const auto found = times.find(x); found != times.end()) pairs += found->second;
    return pairs;
  }
};

/// Compares all elements of a with all elements of b; each has fewer than 2¹⁶ equal partners. It takes four
/// elements of a at a time. So an element of b is read once for four comparisons, and the sum of a vector's
/// parts is computed once for four passes over b.
inline std::int64_t equal_pairs(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b) {
  std::int64_t pairs = 0;
  std::size_t i = 0;
  for (; i + 4 <= a.size(); i += 4) {
    const std::uint32_t x0 = a[i], x1 = a[i + 1], x2 = a[i + 2], x3 = a[i + 3];
    std::uint32_t matches = 0;
    for (const std::uint32_t y : b) matches += std::uint32_t{x0 == y} + (x1 == y) + (x2 == y) + (x3 == y);
    pairs += matches;
  }
  for (const std::uint32_t x : a.subspan(i)) {
    std::uint32_t matches = 0;
    for (const std::uint32_t y : b) matches += x == y;
    pairs += matches;
  }
  return pairs;
}

}  // namespace kernels
