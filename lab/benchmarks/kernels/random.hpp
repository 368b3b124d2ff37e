// SPDX-License-Identifier: Apache-2.0
// SplitMix64 (G. Steele, D. Lea, C. Flood, OOPSLA 2014): a generator that is easy to make equal in C++ and in
// Rust.
#pragma once

#include <cstdint>

namespace kernels {

class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) : state_(seed) {}

  /// 64 random bits.
  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9e37'79b9'7f4a'7c15U;
    z = (z ^ (z >> 30)) * 0xbf58'476d'1ce4'e5b9U;
    z = (z ^ (z >> 27)) * 0x94d0'49bb'1331'11ebU;
    return z ^ (z >> 31);
  }
  /// Returns a number in [0, bound), the high half of a product; bound is at most 2³².
  std::uint32_t below(std::uint64_t bound) {
    return static_cast<std::uint32_t>(((bits() >> 32) * bound) >> 32);
  }
  /// A number in [0, 1).
  double real() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace kernels
