// SPDX-License-Identifier: Apache-2.0
// The results of a node's choices while they are computed, on the node's stack. For systems without
// reductions over tasks.
#pragma once

#include <array>
#include <cstddef>

/// Largest number of choices of a node in the searches: the columns, or the pieces in all orientations.
inline constexpr int few_choices = 160;

template <class T>
class parts {
 public:
  /// Returns a place for one more result; at most few_choices.
  T& add() { return part_[count_++]; }
  [[nodiscard]] T sum() const {
    T total{};
    for (std::size_t i = 0; i < count_; ++i) total += part_[i];
    return total;
  }

 private:
  std::array<T, few_choices> part_;
  std::size_t count_ = 0;
};
