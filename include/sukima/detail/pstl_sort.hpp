// SPDX-License-Identifier: Apache-2.0
// The sort and the merge of libstdc++'s parallel algorithms (sukima/pstl/backend.hpp).
#pragma once

#include <sukima/detail/merge_sort.hpp>
#include <sukima/fork.hpp>
#include <sukima/sort.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>

namespace sukima::detail::pstl {

/// Moves the `wanted` least elements of [first, last) to the beginning, in order: sorts each half, and merges
/// the least elements of both. `sort` must be the first function to access an element, because in
/// std::partial_sort_copy it constructs the elements.
template <class I, class Compare, class Sort>
void sort_least(context c, I first, I last, Compare& compare, Sort& sort, std::ptrdiff_t wanted) {
  using distance = typename std::iterator_traits<I>::difference_type;
  constexpr std::ptrdiff_t small = 2048;
  const std::ptrdiff_t count = last - first;
  if (count <= small) {
    sort(first, last, compare);
    return;
  }
  const I middle = first + static_cast<distance>(count / 2);
  sukima::fork2(
      c, [&](context below) { pstl::sort_least(below, first, middle, compare, sort, wanted); },
      [&](context below) { pstl::sort_least(below, middle, last, compare, sort, wanted); });
  const I left_end = first + static_cast<distance>(std::min<std::ptrdiff_t>(wanted, middle - first));
  const I right_end = middle + static_cast<distance>(std::min<std::ptrdiff_t>(wanted, last - middle));
  const I both = left_end + (right_end - middle);
  if (both <= middle)
    std::swap_ranges(middle, right_end, left_end);
  else
    std::rotate(left_end, middle, right_end);
  std::inplace_merge(first, left_end, both, compare);
}

/// See __parallel_stable_sort. \par Complexity as sukima::parallel_stable_sort; with `wanted` O(n log n)
/// comparisons, and O(n) on the longest chain
template <class I, class Compare, class Sort>
void sort_blocks(context c, I first, I last, Compare& compare, Sort& sort, std::size_t wanted) {
  constexpr std::ptrdiff_t small = 500;
  if (wanted != 0) {
    pstl::sort_least(c, first, last, compare, sort, static_cast<std::ptrdiff_t>(wanted));
  } else if (last - first <= small) {
    sort(first, last, compare);
  } else {
    std::identity same;
    detail::stable_sort_at(c, first, last, compare, same);
  }
}

/// See __parallel_merge. \par Complexity O(n) comparisons; O(log² n) on the longest chain
template <class I, class J, class Out, class Compare, class Merge>
void merge_blocks(context c, I first1, I last1, J first2, J last2, Out out, Compare& compare, Merge& merge) {
  constexpr std::ptrdiff_t small = 2000;
  const std::ptrdiff_t count1 = last1 - first1;
  const std::ptrdiff_t count2 = last2 - first2;
  if (count1 + count2 <= small) {
    merge(first1, last1, first2, last2, out, compare);
    return;
  }
  I middle1 = first1;
  J middle2 = first2;
  if (count1 < count2) {
    middle2 += count2 / 2;
    middle1 = std::upper_bound(first1, last1, *middle2, compare);
  } else {
    middle1 += count1 / 2;
    middle2 = std::lower_bound(first2, last2, *middle1, compare);
  }
  const Out middle = out + ((middle1 - first1) + (middle2 - first2));
  sukima::fork2(
      c,
      [&](context below) {
        pstl::merge_blocks(below, first1, middle1, first2, middle2, out, compare, merge);
      },
      [&](context below) {
        pstl::merge_blocks(below, middle1, last1, middle2, last2, middle, compare, merge);
      });
}

}  // namespace sukima::detail::pstl
