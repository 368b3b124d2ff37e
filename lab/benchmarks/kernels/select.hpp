// SPDX-License-Identifier: Apache-2.0
// Selects the n-th element as the best plain program does: partitions without branches that depend on the
// elements (after S. Edelkamp and A. Weiß, "BlockQuicksort", 2016), with pivots from a sample (after R. Floyd
// and R. Rivest, "Expected time bounds for selection", 1975).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace kernels {

/// One side of a range that is partitioned: which elements of its block belong to the other side.
class misplaced_elements {
 public:
  static constexpr std::ptrdiff_t most = 64;

  [[nodiscard]] std::ptrdiff_t count() const { return end_ - begin_; }
  /// Numbers the elements i of [0, n) for which belongs_elsewhere(i).
  void find(std::ptrdiff_t n, const auto& belongs_elsewhere) {
    begin_ = end_ = 0;
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      numbers_[static_cast<std::size_t>(end_)] = static_cast<std::uint8_t>(i);
      end_ += belongs_elsewhere(i);
    }
  }
  std::ptrdiff_t take_first() { return numbers_[static_cast<std::size_t>(begin_++)]; }
  std::ptrdiff_t take_last() { return numbers_[static_cast<std::size_t>(--end_)]; }

 private:
  std::array<std::uint8_t, most> numbers_;
  std::ptrdiff_t begin_ = 0, end_ = 0;
};

/// Puts elements less than the first one before it, and the others behind it. Returns its place.
template <class I>
I partition_by_first(I first, I last, const auto& less) {
  constexpr std::ptrdiff_t block = misplaced_elements::most;
  const auto pivot = *first;
  misplaced_elements left, right;
  I l = first + 1, r = last;
  std::ptrdiff_t left_size = 0, right_size = 0;  // of the blocks at l and before r that are being exchanged
  const auto exchange = [&] {
    if (left.count() == 0) left.find(left_size, [&](std::ptrdiff_t i) { return !less(l[i], pivot); });
    if (right.count() == 0) right.find(right_size, [&](std::ptrdiff_t i) { return less(r[-1 - i], pivot); });
    for (std::ptrdiff_t n = std::min(left.count(), right.count()); n > 0; --n)
      std::swap(l[left.take_first()], r[-1 - right.take_first()]);
    if (left.count() == 0) l += std::exchange(left_size, 0);
    if (right.count() == 0) r -= std::exchange(right_size, 0);
  };
  while (r - l > 2 * block) {
    left_size = right_size = block;
    exchange();
  }
  // What is left is one block on each side, of which one may be half exchanged.
  const std::ptrdiff_t rest = r - l;
  if (left_size > 0) {
    right_size = rest - left_size;
  } else if (right_size > 0) {
    left_size = rest - right_size;
  } else {
    left_size = rest / 2;
    right_size = rest - left_size;
  }
  exchange();
  if (left.count() > 0) {
    while (left.count() > 0) std::swap(l[left.take_last()], *--r);
    l = r;
  } else {
    while (right.count() > 0) std::swap(r[-1 - right.take_last()], *l++);
  }
  std::swap(*first, *(l - 1));
  return l - 1;
}

/// Puts an element first that divides the range close to nth, on the side that has more elements. So the next
/// partition, on the other side of nth, leaves few.
template <class I>
void choose_pivot_near(I first, I nth, I last, const auto& less);

/// Puts the element into the place nth that a sort would put there, no greater one before it and no lesser
/// one behind it.
template <class I>
void select(I first, I nth, I last, const auto& less) {
  constexpr std::ptrdiff_t few = 8;
  // After this number of partitions, more than a few elements are left only if most pivots are bad.
  auto partitions = 2 * static_cast<int>(std::bit_width(static_cast<std::size_t>(last - first)));
  while (last - first > few && partitions-- > 0) {
    choose_pivot_near(first, nth, last, less);
    const I pivot = partition_by_first(first, last, less);
    if (pivot == nth) return;
    if (nth < pivot)
      last = pivot;
    else
      first = pivot + 1;
  }
  std::nth_element(first, nth, last, less);
}

template <class I>
void choose_pivot_near(I first, I nth, I last, const auto& less) {
  constexpr std::ptrdiff_t many = 1500;
  const std::ptrdiff_t n = last - first;
  if (n > many) {
    // About half of n^(2/3) elements, and a quarter of sqrt(size * log n) as the error of the rank in this
    // sample.
    const auto bits = static_cast<int>(std::bit_width(static_cast<std::size_t>(n)));
    const std::ptrdiff_t size = n >> (bits / 3 + 1), step = n / size;
    for (std::ptrdiff_t i = 1; i < size; ++i) std::swap(first[i], first[i * step]);
    const auto variance = static_cast<std::size_t>(size * bits * 11 / 16);
    const auto error = static_cast<std::ptrdiff_t>(std::size_t{1} << (std::bit_width(variance) / 2)) / 4;
    const std::ptrdiff_t rank = (nth - first) / step;
    const std::ptrdiff_t place = nth - first < n / 2 ? rank + error : rank - error;
    const I pivot = first + std::clamp<std::ptrdiff_t>(place, 0, size - 1);
    select(first, pivot, first + size, less);
    std::swap(*first, *pivot);
    return;
  }
  const auto order = [&less](I a, I b) {
    if (less(*b, *a)) std::swap(*a, *b);
  };
  const I middle = first + n / 2;
  order(middle, first);
  order(first, last - 1);
  order(middle, first);
}

}  // namespace kernels
