// SPDX-License-Identifier: Apache-2.0
// The ends of loops: a place, or a condition, such as that of a `take_while` view.
#pragma once

#include <sukima/detail/loop.hpp>

#include <cstdint>
#include <iterator>
#include <ranges>
#include <type_traits>

namespace sukima::detail {

/// A range whose sentinel has no distance from iterators, so it is compared with each iterator. A loop over
/// such a range may end early. Parallel code searches for the end first, because it gives iterations away
/// from there. A clone tests the condition before each iteration, as a plain loop does.
template <class Range>
concept ends_by_condition =
    std::ranges::forward_range<Range> && !std::ranges::common_range<Range> &&
    !std::ranges::sized_range<Range> &&
    !std::sized_sentinel_for<std::ranges::sentinel_t<Range>, std::ranges::iterator_t<Range>>;

/// A condition as the end of a loop whose iterations have numbers.
template <std::random_access_iterator I, std::sentinel_for<I> S> struct end_by_condition {
  I first;
  S last;
  bool at(std::int64_t i) const { return first + static_cast<std::iter_difference_t<I>>(i) == last; }
};

}  // namespace sukima::detail

namespace SUKIMA_DETAIL_NAMESPACE {

/// Whether there is an iteration from `i` on.
template <class Place> [[gnu::always_inline]] inline bool any_left(Place i, Place to) {
  return loop_form<Place>::any(i, to);
}
template <class I, class S> [[gnu::always_inline]] inline bool any_left(std::int64_t i,
                                                                        const end_by_condition<I, S>& to) {
  return !to.at(i);
}
template <class I, class S>
  requires(!std::is_same_v<I, S> && std::sentinel_for<S, I>)
[[gnu::always_inline]] inline bool any_left(I i, S to) {
  return i != to;
}

/// The end of a loop that continues at `i`.
/// \par Complexity linear in the remaining iterations if the end is a condition
template <class Place> [[gnu::always_inline]] inline Place end_from(Place, Place to) { return to; }
template <class I, class S> std::int64_t end_from(std::int64_t i, const end_by_condition<I, S>& to) {
  while (!to.at(i)) ++i;
  return i;
}
template <class I, class S>
  requires(!std::is_same_v<I, S> && std::sentinel_for<S, I>)
I end_from(I i, S to) {
  while (i != to) ++i;
  return i;
}

}  // namespace SUKIMA_DETAIL_NAMESPACE
