// SPDX-License-Identifier: Apache-2.0
// parallel_sort, parallel_stable_sort and parallel_nth_element: random-access ranges in order, or in part.
#pragma once

#include <sukima/detail/ambient.hpp>
#include <sukima/detail/merge_sort.hpp>
#include <sukima/detail/quicksort.hpp>
#include <sukima/detail/separate_elements.hpp>

#include <algorithm>
#include <functional>
#include <iterator>
#include <ranges>

namespace SUKIMA_DETAIL_NAMESPACE {

template <class I, class Compare, class Projection>
concept sortable_at =
    std::random_access_iterator<I> && std::sortable<I, Compare, Projection> && separate_elements<I>;

template <class I, class Compare, class Projection>
void sort_at(context c, I first, I last, Compare& compare, Projection& projection) {
  const projected_less<Compare, Projection> less{compare, projection};
  quicksort<I, projected_less<Compare, Projection>>(less).sort(c, first, last);
}

template <class I, class Compare, class Projection>
void nth_element_at(context c, I first, I nth, I last, Compare& compare, Projection& projection) {
  const projected_less<Compare, Projection> less{compare, projection};
  quicksort<I, projected_less<Compare, Projection>>(less).select(c, first, nth, last);
}

template <class I, class Compare, class Projection>
void stable_sort_at(context c, I first, I last, Compare& compare, Projection& projection) {
  using less_type = projected_less<Compare, Projection>;
  const less_type less{compare, projection};
  if (detail::sort_runs(first, last, less)) return;
  const auto count = static_cast<std::size_t>(last - first);
  sort_buffer<std::iter_value_t<I>> buffer(count);
  if (!buffer) {
    detail::sort_in_place(first, last, less);
    return;
  }
  buffer.fill(c, first, count);
  merge_sort<I, less_type>(first, buffer.begin(), less).to_range(c, 0, last - first);
}

}  // namespace SUKIMA_DETAIL_NAMESPACE

namespace SUKIMA_NAMESPACE {
/// \addtogroup algorithms
/// @{

/// Sorts [first, last) so that compare(projection(b), projection(a)) is false for all a before b. Equal
/// elements may change places.
///
/// This is a quicksort: elements need not be copyable, and no memory is allocated. For numbers it is at least
/// as fast on one worker as std::sort. A range that is already sorted, or sorted backwards, takes one pass.
/// \param c  the caller's own context
/// \param first, last  random-access iterators, not those of a std::vector<bool>
/// \param compare, projection  are called by several workers at the same time
/// \throws what compare, the projection or a move throws, after the rest was aborted. Then the elements are
///         in an unspecified order, and an element that was being moved may be lost, as with std::sort.
///         `sukima::aborted` if the caller itself is aborted
/// \par Complexity O(n log n) comparisons for n = last − first; O(n) on the longest chain
template <class I, class Compare = std::ranges::less, class Projection = std::identity>
  requires detail::sortable_at<I, Compare, Projection>
void parallel_sort(context c, I first, I last, Compare compare = {}, Projection projection = {}) {
  detail::check_context(c, "sukima::parallel_sort");
  detail::sort_at(c, first, last, compare, projection);
}
/// The same for a random-access range.
template <std::ranges::random_access_range Range, class Compare = std::ranges::less,
          class Projection = std::identity>
  requires detail::sortable_at<std::ranges::iterator_t<Range>, Compare, Projection>
void parallel_sort(context c, Range&& range, Compare compare = {}, Projection projection = {}) {
  detail::check_context(c, "sukima::parallel_sort");
  auto first = std::ranges::begin(range);
  detail::sort_at(c, first, first + std::ranges::distance(range), compare, projection);
}
/// The same without a context.
template <class I, class Compare = std::ranges::less, class Projection = std::identity>
  requires detail::sortable_at<I, Compare, Projection>
void parallel_sort(I first, I last, Compare compare = {}, Projection projection = {}) {
  detail::with_context([&](context c) { detail::sort_at(c, first, last, compare, projection); });
}
/// The same for a random-access range, without a context.
template <std::ranges::random_access_range Range, class Compare = std::ranges::less,
          class Projection = std::identity>
  requires detail::sortable_at<std::ranges::iterator_t<Range>, Compare, Projection>
void parallel_sort(Range&& range, Compare compare = {}, Projection projection = {}) {
  detail::with_context(
      [&](context c) { sukima::parallel_sort(c, range, std::move(compare), std::move(projection)); });
}

/// Sorts as parallel_sort, but equal elements keep their order.
///
/// This is a merge sort with a buffer of last − first elements, which is freed at the end, also after an
/// exception. If there is no memory for the buffer, a slower sort works without it, in O(n log² n) on one
/// worker.
/// \throws as parallel_sort; elements may be moved-from then, as with std::stable_sort
/// \par Complexity O(n log n) comparisons and moves; O(log³ n) on the longest chain. Elements that are not
///      trivially copyable are first moved into the buffer one after the other
template <class I, class Compare = std::ranges::less, class Projection = std::identity>
  requires detail::sortable_at<I, Compare, Projection>
void parallel_stable_sort(context c, I first, I last, Compare compare = {}, Projection projection = {}) {
  detail::check_context(c, "sukima::parallel_stable_sort");
  detail::stable_sort_at(c, first, last, compare, projection);
}
/// The same for a random-access range.
template <std::ranges::random_access_range Range, class Compare = std::ranges::less,
          class Projection = std::identity>
  requires detail::sortable_at<std::ranges::iterator_t<Range>, Compare, Projection>
void parallel_stable_sort(context c, Range&& range, Compare compare = {}, Projection projection = {}) {
  detail::check_context(c, "sukima::parallel_stable_sort");
  auto first = std::ranges::begin(range);
  detail::stable_sort_at(c, first, first + std::ranges::distance(range), compare, projection);
}
/// The same without a context.
template <class I, class Compare = std::ranges::less, class Projection = std::identity>
  requires detail::sortable_at<I, Compare, Projection>
void parallel_stable_sort(I first, I last, Compare compare = {}, Projection projection = {}) {
  detail::with_context([&](context c) { detail::stable_sort_at(c, first, last, compare, projection); });
}
/// The same for a random-access range, without a context.
template <std::ranges::random_access_range Range, class Compare = std::ranges::less,
          class Projection = std::identity>
  requires detail::sortable_at<std::ranges::iterator_t<Range>, Compare, Projection>
void parallel_stable_sort(Range&& range, Compare compare = {}, Projection projection = {}) {
  detail::with_context(
      [&](context c) { sukima::parallel_stable_sort(c, range, std::move(compare), std::move(projection)); });
}

/// Puts the element into the place `nth` that a sort of [first, last) would put there. No element before it
/// is greater, and none after it is less. The other elements have no order. Nothing happens if nth == last.
///
/// This selects by the partitions of parallel_sort: elements need not be copyable, and no memory is
/// allocated.
/// \param c  the caller's own context
/// \param first, nth, last  random-access iterators, not those of a std::vector<bool>; first ≤ nth ≤ last
/// \param compare, projection  as in parallel_sort
/// \throws as parallel_sort
/// \par Complexity on average O(n) comparisons for n = last − first: 1.6 n for the median of 200,000
///      elements; O(n log n) at worst
template <class I, class Compare = std::ranges::less, class Projection = std::identity>
  requires detail::sortable_at<I, Compare, Projection>
void parallel_nth_element(context c, I first, I nth, I last, Compare compare = {},
                          Projection projection = {}) {
  detail::check_context(c, "sukima::parallel_nth_element");
  detail::nth_element_at(c, first, nth, last, compare, projection);
}
/// The same for a random-access range.
template <std::ranges::random_access_range Range, class Compare = std::ranges::less,
          class Projection = std::identity>
  requires detail::sortable_at<std::ranges::iterator_t<Range>, Compare, Projection>
void parallel_nth_element(context c, Range&& range, std::ranges::iterator_t<Range> nth, Compare compare = {},
                          Projection projection = {}) {
  detail::check_context(c, "sukima::parallel_nth_element");
  auto first = std::ranges::begin(range);
  detail::nth_element_at(c, first, nth, first + std::ranges::distance(range), compare, projection);
}
/// The same without a context.
template <class I, class Compare = std::ranges::less, class Projection = std::identity>
  requires detail::sortable_at<I, Compare, Projection>
void parallel_nth_element(I first, I nth, I last, Compare compare = {}, Projection projection = {}) {
  detail::with_context([&](context c) { detail::nth_element_at(c, first, nth, last, compare, projection); });
}
/// The same for a random-access range, without a context.
template <std::ranges::random_access_range Range, class Compare = std::ranges::less,
          class Projection = std::identity>
  requires detail::sortable_at<std::ranges::iterator_t<Range>, Compare, Projection>
void parallel_nth_element(Range&& range, std::ranges::iterator_t<Range> nth, Compare compare = {},
                          Projection projection = {}) {
  detail::with_context([&](context c) {
    sukima::parallel_nth_element(c, range, nth, std::move(compare), std::move(projection));
  });
}

/// @}
}  // namespace SUKIMA_NAMESPACE
