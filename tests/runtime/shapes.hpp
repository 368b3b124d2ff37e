// SPDX-License-Identifier: Apache-2.0
// Numbers in orders that are difficult for sorts and selections, each with its name.
#pragma once

#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace shapes {

/// Inputs that are difficult for sorts.
inline std::vector<std::pair<std::string, std::vector<int>>> shapes_of(std::size_t n) {
  std::mt19937 random(static_cast<unsigned>(n));
  const auto make = [&](auto&& element) {
    std::vector<int> v(n);
    for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<int>(element(i));
    return v;
  };
  return {
      {"random", make([&](std::size_t) { return random() >> 1; })},
      {"few values", make([&](std::size_t) { return random() % 4; })},
      {"square root of values", make([&](std::size_t i) { return i * i % (n / 100 + 2); })},
      {"sorted", make([&](std::size_t i) { return i; })},
      {"backwards", make([&](std::size_t i) { return n - i; })},
      {"all equal", make([&](std::size_t) { return 7; })},
      {"organ pipe", make([&](std::size_t i) { return std::min(i, n - i); })},
      {"sawtooth", make([&](std::size_t i) { return i % 100; })},
      {"sorted, then some", make([&](std::size_t i) { return i < n - n / 50 ? i : random() % (n + 1); })},
      {"two sorted halves", make([&](std::size_t i) { return 2 * i % (n + 1); })},
      {"median of three killer",
       make([&](std::size_t i) { return i % 2 == 0 || i >= n / 2 ? i : n / 2 + i; })},
  };
}

}  // namespace shapes
