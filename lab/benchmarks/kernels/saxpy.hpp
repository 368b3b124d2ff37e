// SPDX-License-Identifier: Apache-2.0
// y += a · x for arrays of floats that fit into a cache, many times.
#pragma once

#include <cstddef>
#include <vector>

namespace kernels {

struct saxpy_problem {
  float a = 0.5F;
  std::vector<float> x, y;

  /// Uses small whole numbers, so that all sums are exact.
  explicit saxpy_problem(std::size_t n) : x(n), y(n) {
    for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<float>(2 * (i % 8));
  }

  /// Number of calls that are timed together: about 20 µs.
  [[nodiscard]] std::size_t batch() const { return x.size() >= 100'000 ? 1 : 100'000 / x.size(); }
  /// Total number of calls: about 10⁸ elements, but no sum exceeds the exact floats.
  [[nodiscard]] std::size_t calls() const {
    const std::size_t wanted = 100'000'000 / x.size() + 1, exact = 1'000'000;
    return (wanted < exact ? wanted : exact) / batch() * batch() + batch();
  }

  [[nodiscard]] bool right() const {
    for (std::size_t i = 0; i < y.size(); ++i)
      if (y[i] != static_cast<float>(calls()) * a * x[i]) return false;
    return true;
  }
};

}  // namespace kernels
