// SPDX-License-Identifier: Apache-2.0
// Merging and sorting a few elements without branches that depend on them, for elements that are cheap
// to copy.
#pragma once

#include <sukima/detail/checks.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <type_traits>

namespace sukima::detail {

/// Elements that are copied even if the copy may not be needed: a copy costs less than a mispredicted branch.
template <class T>
concept cheap_to_copy = std::is_trivially_copyable_v<T> && std::is_copy_constructible_v<T> &&
                        std::is_copy_assignable_v<T> && sizeof(T) <= 32;

}  // namespace sukima::detail

namespace SUKIMA_DETAIL_NAMESPACE {

/// Merges [a, a_end) and [b, b_end) stably, from both ends at once, so the processor can work on both ends at
/// a time. Within a round no side can run out of elements, so the inner loop does not test for the ends.
template <class From, class To, class Less>
void merge_cheaply(From a, From a_end, From b, From b_end, To to, const Less& less) {
  using value = std::iter_value_t<From>;
  constexpr std::ptrdiff_t least_steps = 4;
  To to_end = to + ((a_end - a) + (b_end - b));
  for (;;) {
    const std::ptrdiff_t in_a = a_end - a;
    const std::ptrdiff_t in_b = b_end - b;
    // The number of elements that each end takes in this round. Together they take no more than the shorter
    // side has. If the sides have equal lengths, each end takes half of all elements, and the ends meet.
    const std::ptrdiff_t steps = in_a == in_b ? in_a : std::min(in_a, in_b) / 2;
    if (in_a != in_b && steps < least_steps) break;
    for (std::ptrdiff_t left = steps; left > 0; --left) {
      value a_first = *a;
      value b_first = *b;
      const bool b_is_next = less(b_first, a_first);
      *to = b_is_next ? b_first : a_first;
      ++to;
      a += !b_is_next;
      b += b_is_next;
      value a_last = *(a_end - 1);
      value b_last = *(b_end - 1);
      const bool a_is_last = less(b_last, a_last);
      --to_end;
      *to_end = a_is_last ? a_last : b_last;
      a_end -= a_is_last;
      b_end -= !a_is_last;
    }
    if (in_a == in_b) return;
  }
  while (a != a_end && b != b_end) {
    value a_first = *a;
    value b_first = *b;
    const bool b_is_next = less(b_first, a_first);
    *to = b_is_next ? b_first : a_first;
    ++to;
    a += !b_is_next;
    b += b_is_next;
  }
  std::copy(b, b_end, std::copy(a, a_end, to));
}

/// Sorts the four elements from `from` on stably, and stores them from `to` on.
template <class From, class T, class Less> void sort_four(From from, T* to, const Less& less) {
  T x0 = *from;
  T x1 = *(from + 1);
  T x2 = *(from + 2);
  T x3 = *(from + 3);
  const bool swap_low = less(x1, x0);
  const bool swap_high = less(x3, x2);
  T a = swap_low ? x1 : x0;  // a, b and c, d are sorted
  T b = swap_low ? x0 : x1;
  T c = swap_high ? x3 : x2;
  T d = swap_high ? x2 : x3;
  const bool c_first = less(c, a);
  const bool b_last = less(d, b);
  T left = c_first ? a : (b_last ? c : b);  // the middle element that came first
  T right = b_last ? d : (c_first ? b : c);
  const bool swap_middle = less(right, left);
  to[0] = c_first ? c : a;
  to[1] = swap_middle ? right : left;
  to[2] = swap_middle ? left : right;
  to[3] = b_last ? b : d;
}

/// Sorts up to `most` elements stably: first in groups of four, then by merges.
template <class T> class small_sort {
 public:
  static constexpr std::ptrdiff_t most = 32;

  /// Sorts [from, from + count) into [to, to + count), which may be the same range. No element is lost if
  /// `less` throws.
  template <class From, class To, class Less> void operator()(From from, std::ptrdiff_t count, To to,
                                                              const Less& less) {
    std::ptrdiff_t fours = 0;
    for (; count - fours >= 4; fours += 4) detail::sort_four(from + fours, at(0) + fours, less);
    insert_rest(from + fours, from + count, at(0) + fours, less);
    int now = 0;  // the half of `room_` that has all elements
    try {
      std::ptrdiff_t run = 4;
      for (; 2 * run < count; run *= 2, now = 1 - now) merge_runs(at(now), count, run, at(1 - now), less);
      merge_runs(at(now), count, run, to, less);
    } catch (...) {
      std::copy(at(now), at(now) + count, to);
      throw;
    }
  }

 private:
  T* at(int half) noexcept { return reinterpret_cast<T*>(room_) + half * most; }

  /// Sorts fewer than four elements by insertion.
  template <class From, class Less> static void insert_rest(From from, From from_end, T* to,
                                                            const Less& less) {
    for (T* end = to; from != from_end; ++from, ++end) {
      T x = *from;
      T* hole = end;
      for (; hole != to && less(x, *(hole - 1)); --hole) *hole = *(hole - 1);
      *hole = x;
    }
  }

  /// Merges neighbouring runs of length `run`.
  template <class To, class Less>
  static void merge_runs(T* from, std::ptrdiff_t count, std::ptrdiff_t run, To to, const Less& less) {
    for (std::ptrdiff_t i = 0; i < count; i += 2 * run) {
      const std::ptrdiff_t middle = std::min(i + run, count);
      detail::merge_cheaply(from + i, from + middle, from + middle, from + std::min(middle + run, count),
                            to + i, less);
    }
  }

  alignas(T) std::byte room_[2 * most * sizeof(T)];
};

}  // namespace SUKIMA_DETAIL_NAMESPACE
