// SPDX-License-Identifier: Apache-2.0
// tbb::parallel_sort on Sukima's workers.
#pragma once

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/profiling.h>
#include <sukima/detail/separate_elements.hpp>
#include <sukima/detail/tbb/names.hpp>
#include <sukima/detail/tbb/running.hpp>
#include <sukima/sort.hpp>

#include <concepts>
#include <functional>
#include <iterator>
#include <utility>

namespace sukima::detail::tbb {

template <class Compare, class I>
concept parallel_sort_compare =
    requires(const Compare& compare, typename std::iterator_traits<I>::reference a,
             typename std::iterator_traits<I>::reference b) {
      { compare(a, b) } -> std::convertible_to<bool>;
    };
template <class T>
concept less_than_comparable = requires(const T& a, const T& b) {
  { a < b } -> std::convertible_to<bool>;
};
template <class I>
concept sortable_iterator = std::random_access_iterator<I> && std::movable<std::iter_value_t<I>> &&
                            std::swappable<std::iter_value_t<I>> && separate_elements<I>;
template <class Range> using begin_of = decltype(std::begin(std::declval<Range&>()));
template <class Range>
concept sortable_range = requires(Range& r) {
  { std::begin(r) } -> sortable_iterator;
  { std::end(r) } -> sortable_iterator;
};

}  // namespace sukima::detail::tbb

namespace tbb {

/// Sorts; equal elements may change places.
template <class I, class Compare>
  requires(::sukima::detail::tbb::sortable_iterator<I> &&
           ::sukima::detail::tbb::parallel_sort_compare<Compare, I>)
void parallel_sort(I begin, I end, const Compare& compare) {
  std::identity same;
  ::sukima::detail::tbb::enter(
      [&](::sukima::context c) { ::sukima::detail::sort_at(c, begin, end, compare, same); });
}
template <class I>
  requires(::sukima::detail::tbb::sortable_iterator<I> &&
           ::sukima::detail::tbb::less_than_comparable<std::iter_value_t<I>>)
void parallel_sort(I begin, I end) {
  ::tbb::parallel_sort(begin, end, std::less<std::iter_value_t<I>>());
}
template <class Range, class Compare>
  requires(::sukima::detail::tbb::sortable_range<Range> &&
           ::sukima::detail::tbb::parallel_sort_compare<Compare, ::sukima::detail::tbb::begin_of<Range>>)
void parallel_sort(Range&& range, const Compare& compare) {
  ::tbb::parallel_sort(std::begin(range), std::end(range), compare);
}
template <class Range>
  requires(
      ::sukima::detail::tbb::sortable_range<Range> &&
      ::sukima::detail::tbb::less_than_comparable<std::iter_value_t<::sukima::detail::tbb::begin_of<Range>>>)
void parallel_sort(Range&& range) {
  ::tbb::parallel_sort(std::begin(range), std::end(range));
}

}  // namespace tbb
