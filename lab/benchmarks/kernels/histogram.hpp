// SPDX-License-Identifier: Apache-2.0
// Counts how often each of 256 values occurs among n numbers (histogram of the Problem Based Benchmark
// Suite).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/harness.hpp"
#include "kernels/random.hpp"

namespace kernels {

inline constexpr std::size_t histogram_piece = 65536;  // numbers that are counted without forking

struct histogram {
  std::array<std::uint32_t, 256> count{};
  histogram& operator+=(const histogram& other) {
    for (std::size_t i = 0; i < count.size(); ++i) count[i] += other.count[i];
    return *this;
  }
  friend histogram operator+(histogram a, const histogram& b) { return a += b; }
};

struct histogram_problem {
  std::vector<std::uint8_t> values;

  /// Small values are frequent, because each value is the smaller of two random ones.
  explicit histogram_problem(std::size_t n) : values(n) {
    random_numbers random(10);
    for (auto& v : values) {
      const std::uint64_t bits = random.bits();
      const auto a = static_cast<std::uint8_t>(bits), b = static_cast<std::uint8_t>(bits >> 8);
      v = a < b ? a : b;
    }
  }

  [[nodiscard]] int pieces() const {
    return static_cast<int>((values.size() + histogram_piece - 1) / histogram_piece);
  }

  /// Counts a piece. It uses four tables, because the same value twice in a row would wait for the store of
  /// its count.
  [[nodiscard]] histogram count(int piece) const {
    const std::size_t from = static_cast<std::size_t>(piece) * histogram_piece;
    const std::size_t to = from + histogram_piece < values.size() ? from + histogram_piece : values.size();
    std::array<histogram, 4> part;
    std::size_t i = from;
    for (; i + 4 <= to; i += 4)
      for (std::size_t k = 0; k < 4; ++k) ++part[k].count[values[i + k]];
    for (; i < to; ++i) ++part[0].count[values[i]];
    return part[0] += (part[1] += part[2] += part[3]);
  }

  /// \throws bench::wrong_result if the counts do not add up to all numbers
  [[nodiscard]] std::string result(const histogram& h) const {
    std::uint64_t all = 0, weighted = 0;
    for (std::size_t i = 0; i < h.count.size(); ++i) all += h.count[i], weighted += (i + 1) * h.count[i];
    if (all != values.size()) throw bench::wrong_result("the counts do not add up to the numbers");
    return std::to_string(weighted);
  }
};

}  // namespace kernels
