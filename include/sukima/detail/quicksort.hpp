// SPDX-License-Identifier: Apache-2.0
// The unstable sort: quicksort whose halves are forked, with the measures of pattern-defeating quicksort
// (after Orson Peters) against bad pivots and equal elements. Selecting the n-th element by the same
// partitions: its pivots come from samples (after Floyd and Rivest, "Expected time bounds for selection",
// 1975), so that little more than three comparisons for two elements are needed.
#pragma once

#include <sukima/detail/cheap_merge.hpp>
#include <sukima/detail/parallel_partition.hpp>

#include <algorithm>
#include <bit>
#include <functional>
#include <iterator>
#include <type_traits>
#include <utility>

namespace SUKIMA_DETAIL_NAMESPACE {

/// The function less(a, b) for elements, made of a comparator and a projection.
template <class Compare, class Projection> struct projected_less {
  Compare& compare;
  Projection& projection;
  template <class A, class B> [[gnu::always_inline]] bool operator()(A&& a, B&& b) const {
    return static_cast<bool>(std::invoke(compare, std::invoke(projection, std::forward<A>(a)),
                                         std::invoke(projection, std::forward<B>(b))));
  }
};

/// Sorts a range that is already sorted, or sorted backwards, in one pass. \returns whether it was such a
/// range
template <class I, class Less> bool sort_runs(I first, I last, const Less& less) {
  if (last - first < 2) return true;
  I next = first + 1;
  if (less(*next, *first)) {
    do {
      ++next;
    } while (next != last && less(*next, *(next - 1)));
    if (next != last) return false;
    std::ranges::reverse(first, last);  // no two are equal, so this is stable, too
    return true;
  }
  do {
    ++next;
  } while (next != last && !less(*next, *(next - 1)));
  return next == last;
}

/// Stable. If `less` throws, the element that is being moved may be lost.
template <class I, class Less> void insertion_sort(I first, I last, const Less& less) {
  if (first == last) return;
  for (I i = first + 1; i != last; ++i) {
    if (!less(*i, *(i - 1))) continue;
    std::iter_value_t<I> value(std::ranges::iter_move(i));
    I hole = i;
    do {
      *hole = std::ranges::iter_move(hole - 1);
      --hole;
    } while (hole != first && less(value, *(hole - 1)));
    *hole = std::move(value);
  }
}

template <class I, class Less> class quicksort {
  using distance = std::iter_difference_t<I>;
  using value = std::iter_value_t<I>;
  static constexpr distance small = cheap_to_copy<value> ? small_sort<value>::most : 24;
  static constexpr distance many = 128;  ///< in longer ranges the pivot is the median of nine

 public:
  explicit quicksort(const Less& less) : less_(less) {}

  void sort(context c, I first, I last) const {
    if (detail::sort_runs(first, last, less_)) return;
    sort(c, first, last, most_bad(last - first), true);
  }

  /// Puts that element into the place `nth` which a sort would put there, no greater one before it, and no
  /// lesser one after it.
  void select(context c, I first, I nth, I last) const {
    if (nth != last) select(c, first, nth, last, most_bad(last - first), true);
  }

 private:
  /// Ranges that are longer choose a pivot for selection from a sample.
  static constexpr distance sampled = 1500;

  /// A range after its partition: no element of [first, middle) is greater, and none of [right, last) less,
  /// than those of [middle, right), which are equal to each other.
  struct parts {
    I middle;
    I right;
    bool equal_left;  ///< the pivot equals the element before the range, so no element here is less
  };

  /// How many unbalanced partitions are allowed before heapsort.
  static int most_bad(distance n) { return static_cast<int>(std::bit_width(static_cast<std::size_t>(n))); }

  /// \param bad_left  how many more unbalanced partitions are allowed before heapsort
  /// \param leftmost  no element is before `first`; otherwise no element before it is greater than any of
  /// these
  void sort(context c, I first, I last, int bad_left, bool leftmost) const {
    for (;;) {
      const distance n = last - first;
      if (n <= small) return sort_few(first, last);
      choose_pivot(first, last);
      const auto [middle, right, equal_left] = partition(c, first, last, leftmost);
      if (equal_left) {
        first = right;
        continue;
      }
      const distance left_count = middle - first;
      const distance right_count = last - right;
      if (std::min(left_count, right_count) < n / 8) {
        if (--bad_left < 0) return sort_by_heap(first, last);
        disturb(first, middle);
        disturb(right, last);
      }
      // A structured binding cannot be captured by clang 15.
      const I left_end = middle;
      const I right_begin = right;
      sukima::fork2(
          c, [=, this](context below) { sort(below, first, left_end, bad_left, leftmost); },
          [=, this](context below) { sort(below, right_begin, last, bad_left, false); });
      return;
    }
  }

  /// \param bad_left  how many more partitions may leave more than three quarters of a range
  void select(context c, I first, I nth, I last, int bad_left, bool leftmost) const {
    for (;;) {
      const distance n = last - first;
      if (n <= small) return select_few(first, nth, last);
      choose_pivot_near(c, first, nth, last, bad_left, leftmost);
      const auto [middle, right, equal_left] = partition(c, first, last, leftmost);
      if (nth < middle) {
        last = middle;
      } else if (nth < right) {
        return;
      } else {
        first = right;
        leftmost = false;
      }
      if (last - first <= n - n / 4) continue;
      if (--bad_left < 0) return sort_by_heap(first, last);
      disturb(first, last);
    }
  }

  void sort_few(I first, I last) const {
    if constexpr (cheap_to_copy<value>)
      small_sort<value>()(first, last - first, first, less_);
    else
      detail::insertion_sort(first, last, less_);
  }
  void select_few(I first, I nth, I last) const {
    // Sorting moves long elements more often than selecting does.
    if constexpr (std::is_lvalue_reference_v<std::iter_reference_t<I>> && sizeof(value) > 16)
      std::nth_element(first, nth, last, less_);
    else
      sort_few(first, last);
  }
  void sort_by_heap(I first, I last) const {
    std::ranges::make_heap(first, last, less_);
    std::ranges::sort_heap(first, last, less_);
  }

  /// Partitions by the first element.
  parts partition(context c, I first, I last, bool leftmost) const {
    if (!leftmost && !less_(*(first - 1), *first)) {
      // The pivot equals the element before `first`: all elements equal to it go to the left and are done.
      const I right = with_pivot(first, [&](auto& pivot) {
        return detail::divide(c, first + 1, last, [&](auto&& x) { return !less_(pivot, x); });
      });
      return {first, right, true};
    }
    const I right = with_pivot(first, [&](auto& pivot) {
      return detail::divide(c, first + 1, last, [&](auto&& x) { return less_(x, pivot); });
    });
    const I middle = right - 1;
    std::ranges::iter_swap(first, middle);
    return {middle, right, false};
  }

  /// Calls f with the pivot: a copy if that is cheap, so that it may stay in a register. It is not constant,
  /// because a comparator may take its arguments by reference, as in std::ranges::sort.
  template <class F> static I with_pivot(I place, const F& f) {
    if constexpr (cheap_to_copy<value>) {
      value copy(*place);
      return f(copy);
    } else {
      auto&& pivot = *place;
      return f(pivot);
    }
  }

  void order(I a, I b) const {
    if (less_(*b, *a)) std::ranges::iter_swap(a, b);
  }
  void order(I a, I b, I d) const {
    order(a, b);
    order(b, d);
    order(a, b);
  }
  /// Puts the median of three or nine elements first.
  void choose_pivot(I first, I last) const {
    const distance half = (last - first) / 2;
    const I middle = first + half;
    if (last - first > many) {
      order(first, middle, last - 1);
      order(first + 1, middle - 1, last - 2);
      order(first + 2, middle + 1, last - 3);
      order(middle - 1, middle, middle + 1);
      std::ranges::iter_swap(first, middle);
    } else {
      order(middle, first, last - 1);
    }
  }
  /// Puts an element first that divides the range close to `nth`, on the side that has more elements. So the
  /// next partition, whose pivot is on the other side of `nth`, leaves few.
  void choose_pivot_near(context c, I first, I nth, I last, int bad_left, bool leftmost) const {
    const distance n = last - first;
    if (n <= sampled) return choose_pivot(first, last);
    // About half of n^(2/3) elements, and a quarter of √(size · ln n) as the error of the rank in the sample.
    // Powers of two are close enough. <cmath> would add its global names to programs.
    const auto bits = static_cast<int>(std::bit_width(static_cast<std::size_t>(n)));
    const distance size = n >> (bits / 3 + 1);
    const distance step = n / size;
    for (distance i = 1; i < size; ++i) std::ranges::iter_swap(first + i, first + i * step);
    const auto variance = static_cast<std::size_t>(size) * static_cast<std::size_t>(bits) * 11 / 16;
    const auto error = static_cast<distance>(std::size_t{1} << (std::bit_width(variance) / 2)) / 4;
    const distance rank = (nth - first) / step;
    const distance place = nth - first < n / 2 ? rank + error : rank - error;
    const I pivot = first + std::clamp<distance>(place, 0, size - 1);
    select(c, first, pivot, first + size, bad_left, leftmost);
    std::ranges::iter_swap(first, pivot);
  }
  /// Breaks a pattern that led to a bad pivot.
  static void disturb(I first, I last) {
    const distance n = last - first;
    if (n <= small) return;
    const distance quarter = n / 4;
    std::ranges::iter_swap(first, first + quarter);
    std::ranges::iter_swap(last - 1, last - quarter);
    if (n > many) {
      std::ranges::iter_swap(first + 1, first + (quarter + 1));
      std::ranges::iter_swap(first + 2, first + (quarter + 2));
      std::ranges::iter_swap(last - 2, last - (quarter + 1));
      std::ranges::iter_swap(last - 3, last - (quarter + 2));
    }
  }

  const Less& less_;
};

}  // namespace SUKIMA_DETAIL_NAMESPACE
