// SPDX-License-Identifier: Apache-2.0
// parallel_filter, parallel_partition, parallel_remove_if and parallel_unique: algorithms that select
// elements.
#pragma once

#include <sukima/detail/ambient.hpp>
#include <sukima/detail/compaction.hpp>
#include <sukima/detail/loop_range.hpp>
#include <sukima/detail/parallel_partition.hpp>
#include <sukima/detail/separate_elements.hpp>

#include <concepts>
#include <functional>
#include <iterator>
#include <ranges>
#include <type_traits>
#include <utility>

namespace SUKIMA_DETAIL_NAMESPACE {

template <class I, class Predicate, class Projection>
concept predicate_at = std::random_access_iterator<I> &&
                       std::indirect_unary_predicate<Predicate&, std::projected<I, Projection>>;
template <class I, class Predicate, class Projection>
concept separable_at = std::permutable<I> && separate_elements<I> && predicate_at<I, Predicate, Projection>;
template <class I, class Equal, class Projection>
concept comparable_at = std::random_access_iterator<I> && std::permutable<I> && separate_elements<I> &&
                        std::indirect_equivalence_relation<Equal, std::projected<I, Projection>>;

/// Whether the elements of an rvalue range are moved: not if the range refers to elements of another range.
template <class Range>
inline constexpr bool owns_elements =
    !std::is_lvalue_reference_v<Range> && !std::ranges::borrowed_range<Range> &&
    !std::ranges::view<std::remove_cvref_t<Range>>;

template <class I, class Predicate, class Projection>
I partition_at(context c, I first, I last, Predicate& predicate, Projection& projection) {
  const projected_predicate<Predicate, Projection> accepts{predicate, projection};
  return detail::divide(c, first, last, accepts);
}
template <class I, class Equal, class Projection>
I unique_projected(context c, I first, I last, Equal& equal, Projection& projection) {
  return detail::unique_at(c, first, last, [&](auto&& a, auto&& b) {
    return static_cast<bool>(std::invoke(equal, std::invoke(projection, std::forward<decltype(a)>(a)),
                                         std::invoke(projection, std::forward<decltype(b)>(b))));
  });
}

}  // namespace SUKIMA_DETAIL_NAMESPACE

namespace SUKIMA_NAMESPACE {
/// \addtogroup algorithms
/// @{

/// Returns a std::vector of the elements for which predicate(projection(element)) holds, in their order.
///
/// The predicate is called once for each element; its answers are stored as bits. The elements are
/// copied, or moved if the range is an rvalue that owns them, as `std::move(vector)`. Elements without
/// a default constructor are copied by one worker.
/// \param c      the caller's own context
/// \param range  random access; alive and unchanged during the call
/// \param predicate, projection  are called by several workers at the same time
/// \throws what a callback or a copy throws, after the rest was aborted; `sukima::aborted` if the caller
///         itself is aborted; std::bad_alloc
/// \par Complexity n calls of the predicate and at most n copies for n elements; n / 8 bytes besides the
///   result
template <std::ranges::random_access_range Range, class Predicate, class Projection = std::identity>
  requires detail::predicate_at<std::ranges::iterator_t<Range>, Predicate, Projection>
auto parallel_filter(context c, Range&& range, Predicate predicate, Projection projection = {}) {
  detail::check_context(c, "sukima::parallel_filter");
  const detail::projected_predicate<Predicate, Projection> accepts{predicate, projection};
  return detail::filtered<detail::owns_elements<Range>>(c, std::ranges::begin(range),
                                                        detail::length_of(range), accepts);
}
/// The same without a context.
template <std::ranges::random_access_range Range, class Predicate, class Projection = std::identity>
  requires detail::predicate_at<std::ranges::iterator_t<Range>, Predicate, Projection>
auto parallel_filter(Range&& range, Predicate predicate, Projection projection = {}) {
  return detail::with_context([&](context c) {
    return sukima::parallel_filter(c, std::forward<Range>(range), std::move(predicate),
                                   std::move(projection));
  });
}

/// Copies the elements of [first, last) for which predicate(projection(element)) holds to `out`, in
/// their order, as std::copy_if.
/// \param c    the caller's own context
/// \param first, last  random-access iterators
/// \param out  random access, with room for all accepted elements, and not one of a std::vector<bool>. The
///             ranges must not overlap
/// \param predicate, projection  are called by several workers at the same time
/// \returns the end of the copies
/// \throws as parallel_filter of a range; some elements are copied then
/// \par Complexity last − first calls of the predicate and at most as many copies; (last − first) / 8 bytes
template <class I, class Out, class Predicate, class Projection = std::identity>
  requires detail::predicate_at<I, Predicate, Projection> && std::random_access_iterator<Out> &&
           std::indirectly_copyable<I, Out> && detail::separate_elements<Out>
Out parallel_filter(context c, I first, I last, Out out, Predicate predicate, Projection projection = {}) {
  detail::check_context(c, "sukima::parallel_filter");
  const detail::projected_predicate<Predicate, Projection> accepts{predicate, projection};
  return detail::filter_to(c, first, static_cast<std::int64_t>(last - first), out, accepts);
}
/// The same without a context.
template <class I, class Out, class Predicate, class Projection = std::identity>
  requires detail::predicate_at<I, Predicate, Projection> && std::random_access_iterator<Out> &&
           std::indirectly_copyable<I, Out> && detail::separate_elements<Out>
Out parallel_filter(I first, I last, Out out, Predicate predicate, Projection projection = {}) {
  return detail::with_context([&](context c) {
    return sukima::parallel_filter(c, first, last, out, std::move(predicate), std::move(projection));
  });
}

/// Moves the elements for which predicate(projection(element)) holds before the others, as
/// std::partition. Within each group the order is unspecified.
///
/// Elements need not be copied, no memory is allocated, and an exception of a callback loses no element.
/// \param c  the caller's own context
/// \param first, last  random-access iterators, not those of a std::vector<bool>
/// \param predicate, projection  are called by several workers at the same time
/// \returns the first element for which the predicate does not hold
/// \throws as parallel_filter, without std::bad_alloc
/// \par Complexity n calls of the predicate and at most n / 2 swaps for n = last − first, beside those of
///      some thousand elements in the middle
template <class I, class Predicate, class Projection = std::identity>
  requires detail::separable_at<I, Predicate, Projection>
I parallel_partition(context c, I first, I last, Predicate predicate, Projection projection = {}) {
  detail::check_context(c, "sukima::parallel_partition");
  return detail::partition_at(c, first, last, predicate, projection);
}
/// The same for a random-access range.
template <std::ranges::random_access_range Range, class Predicate, class Projection = std::identity>
  requires detail::separable_at<std::ranges::iterator_t<Range>, Predicate, Projection>
std::ranges::borrowed_iterator_t<Range> parallel_partition(context c, Range&& range, Predicate predicate,
                                                           Projection projection = {}) {
  detail::check_context(c, "sukima::parallel_partition");
  auto first = std::ranges::begin(range);
  return detail::partition_at(c, first, first + std::ranges::distance(range), predicate, projection);
}
/// The same without a context.
template <class I, class Predicate, class Projection = std::identity>
  requires detail::separable_at<I, Predicate, Projection>
I parallel_partition(I first, I last, Predicate predicate, Projection projection = {}) {
  return detail::with_context(
      [&](context c) { return detail::partition_at(c, first, last, predicate, projection); });
}
/// The same for a random-access range, without a context.
template <std::ranges::random_access_range Range, class Predicate, class Projection = std::identity>
  requires detail::separable_at<std::ranges::iterator_t<Range>, Predicate, Projection>
std::ranges::borrowed_iterator_t<Range> parallel_partition(Range&& range, Predicate predicate,
                                                           Projection projection = {}) {
  auto first = std::ranges::begin(range);
  return sukima::parallel_partition(first, first + std::ranges::distance(range), std::move(predicate),
                                    std::move(projection));
}

/// Removes the elements for which predicate(projection(element)) holds, as std::remove_if: moves the others
/// to the front, in their order. To erase the rest of the range: `v.erase(sukima::parallel_remove_if(c, v,
/// unwanted), v.end())`.
/// \param c  the caller's own context
/// \param first, last  random-access iterators, not those of a std::vector<bool>
/// \param predicate, projection  are called by several workers at the same time
/// \returns the end of the kept elements. Elements from there on are moved-from or have any of the values
/// \throws as parallel_filter; elements may be moved-from then, as with std::remove_if
/// \par Complexity n calls of the predicate for n = last − first, and at most 2n moves. Several workers make
///      the moves within blocks; one worker moves whole blocks
template <class I, class Predicate, class Projection = std::identity>
  requires detail::separable_at<I, Predicate, Projection>
I parallel_remove_if(context c, I first, I last, Predicate predicate, Projection projection = {}) {
  detail::check_context(c, "sukima::parallel_remove_if");
  const detail::projected_predicate<Predicate, Projection> accepts{predicate, projection};
  return detail::remove_at(c, first, last, accepts);
}
/// The same for a random-access range.
template <std::ranges::random_access_range Range, class Predicate, class Projection = std::identity>
  requires detail::separable_at<std::ranges::iterator_t<Range>, Predicate, Projection>
std::ranges::borrowed_iterator_t<Range> parallel_remove_if(context c, Range&& range, Predicate predicate,
                                                           Projection projection = {}) {
  auto first = std::ranges::begin(range);
  return sukima::parallel_remove_if(c, first, first + std::ranges::distance(range), std::move(predicate),
                                    std::move(projection));
}
/// The same without a context.
template <class I, class Predicate, class Projection = std::identity>
  requires detail::separable_at<I, Predicate, Projection>
I parallel_remove_if(I first, I last, Predicate predicate, Projection projection = {}) {
  return detail::with_context([&](context c) {
    return sukima::parallel_remove_if(c, first, last, std::move(predicate), std::move(projection));
  });
}
/// The same for a random-access range, without a context.
template <std::ranges::random_access_range Range, class Predicate, class Projection = std::identity>
  requires detail::separable_at<std::ranges::iterator_t<Range>, Predicate, Projection>
std::ranges::borrowed_iterator_t<Range> parallel_remove_if(Range&& range, Predicate predicate,
                                                           Projection projection = {}) {
  auto first = std::ranges::begin(range);
  return sukima::parallel_remove_if(first, first + std::ranges::distance(range), std::move(predicate),
                                    std::move(projection));
}

/// Keeps the first of consecutive equal elements, as std::unique: moves the kept elements to the front, in
/// their order.
/// \param c      the caller's own context
/// \param first, last  random-access iterators, not those of a std::vector<bool>
/// \param equal, projection  `equal` is an equivalence relation; several workers call both at the same time
/// \returns the end of the kept elements. Elements from there on are moved-from or have any of the values
/// \throws as parallel_remove_if
/// \par Complexity n − 1 calls of `equal` for n = last − first, and at most 2n moves as parallel_remove_if
template <class I, class Equal = std::ranges::equal_to, class Projection = std::identity>
  requires detail::comparable_at<I, Equal, Projection>
I parallel_unique(context c, I first, I last, Equal equal = {}, Projection projection = {}) {
  detail::check_context(c, "sukima::parallel_unique");
  return detail::unique_projected(c, first, last, equal, projection);
}
/// The same for a random-access range.
template <std::ranges::random_access_range Range, class Equal = std::ranges::equal_to,
          class Projection = std::identity>
  requires detail::comparable_at<std::ranges::iterator_t<Range>, Equal, Projection>
std::ranges::borrowed_iterator_t<Range> parallel_unique(context c, Range&& range, Equal equal = {},
                                                        Projection projection = {}) {
  detail::check_context(c, "sukima::parallel_unique");
  auto first = std::ranges::begin(range);
  return detail::unique_projected(c, first, first + std::ranges::distance(range), equal, projection);
}
/// The same without a context.
template <class I, class Equal = std::ranges::equal_to, class Projection = std::identity>
  requires detail::comparable_at<I, Equal, Projection>
I parallel_unique(I first, I last, Equal equal = {}, Projection projection = {}) {
  return detail::with_context(
      [&](context c) { return detail::unique_projected(c, first, last, equal, projection); });
}
/// The same for a random-access range, without a context.
template <std::ranges::random_access_range Range, class Equal = std::ranges::equal_to,
          class Projection = std::identity>
  requires detail::comparable_at<std::ranges::iterator_t<Range>, Equal, Projection>
std::ranges::borrowed_iterator_t<Range> parallel_unique(Range&& range, Equal equal = {},
                                                        Projection projection = {}) {
  auto first = std::ranges::begin(range);
  return sukima::parallel_unique(first, first + std::ranges::distance(range), std::move(equal),
                                 std::move(projection));
}

/// @}
}  // namespace SUKIMA_NAMESPACE
