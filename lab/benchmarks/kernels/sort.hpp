// SPDX-License-Identifier: Apache-2.0
// Merge sort of 32-bit numbers: data, and the sequential pieces below the parallel cut-offs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/random.hpp"

namespace kernels {

using keys = std::span<std::uint32_t>;

inline constexpr std::size_t sort_leaf = 4096;   // sorted without forking
inline constexpr std::size_t merge_leaf = 8192;  // merged without forking
inline constexpr std::size_t run_length = 24;    // sorted by insertion

struct sort_problem {
  std::vector<std::uint32_t> data, buffer;
  std::uint64_t sum = 0;

  explicit sort_problem(std::size_t n) : data(n), buffer(n) {
    random_numbers random(5);
    for (auto& x : data) sum += x = static_cast<std::uint32_t>(random.bits());
  }

  /// Returns whether data is in order and still has the same sum.
  [[nodiscard]] bool sorted() const {
    std::uint64_t now = 0;
    for (const auto x : data) now += x;
    return now == sum && std::is_sorted(data.begin(), data.end());
  }
};

inline void insertion_sort(keys a) {
  for (std::size_t i = 1; i < a.size(); ++i) {
    const std::uint32_t x = a[i];
    std::size_t j = i;
    for (; j > 0 && x < a[j - 1]; --j) a[j] = a[j - 1];
    a[j] = x;
  }
}

/// Merges a and b into `to` (as long as both together), without a branch on the comparison. It is not
/// inlined, so that its loop is compiled equally for all callers.
[[gnu::noinline]] inline void merge_run(const std::uint32_t* a, const std::uint32_t* a_end,
                                        const std::uint32_t* b, const std::uint32_t* b_end,
                                        std::uint32_t* to) {
  while (a != a_end && b != b_end) {
    const std::uint32_t x = *a, y = *b;
    const bool second = y < x;
    *to++ = second ? y : x;
    b += second;
    a += !second;
  }
  to = std::copy(a, a_end, to);
  std::copy(b, b_end, to);
}

inline void merge_run(keys a, keys b, keys to) {
  merge_run(a.data(), a.data() + a.size(), b.data(), b.data() + b.size(), to.data());
}

/// Sorts a. The result is in a, or if `into_buffer` is set, in the buffer of the same length.
inline void sort_run(keys a, keys buffer, bool into_buffer) {
  if (a.size() <= run_length) {
    insertion_sort(a);
    if (into_buffer) std::copy(a.begin(), a.end(), buffer.begin());
    return;
  }
  const std::size_t half = a.size() / 2;
  sort_run(a.first(half), buffer.first(half), !into_buffer);
  sort_run(a.subspan(half), buffer.subspan(half), !into_buffer);
  const keys from = into_buffer ? a : buffer, to = into_buffer ? buffer : a;
  merge_run(from.first(half), from.subspan(half), to);
}

}  // namespace kernels
