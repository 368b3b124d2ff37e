// SPDX-License-Identifier: Apache-2.0
// Loops over blocks of a range, over tables, over lists, maps and filters, and over ranges that split
// themselves.
#pragma once

#include <sukima/detail/loop_source.hpp>
#include <sukima/fork.hpp>
#include <sukima/loop.hpp>

#include <concepts>
#include <cstdint>
#include <iterator>
#include <optional>
#include <ranges>
#include <utility>

namespace sukima {
/// \addtogroup loops
/// @{

/// Integers, or random-access iterators, that a loop hands out in blocks: its body is called with the
/// beginning and the end of a block, body(begin, end) or body(context, begin, end).
///
/// Use it for code that treats several elements at a time: a vector instruction, a buffer, a call of a
/// library. Blocks are consecutive and not empty, and together contain each element once. The loop measures
/// its blocks and makes them as long as takes about a microsecond; the first block is one element.
/// `sukima::grain` sets another length. The last block of a piece may be shorter. A block cannot be split,
/// but forks in its body can.
template <class I> class blocked_range {
 public:
  /// The integers or iterators [first, last).
  template <class A, class B>
    requires std::same_as<I, detail::common_index<A, B>>
  blocked_range(A first, B last) : first_(static_cast<I>(first)), last_(static_cast<I>(last)) {
    detail::require_bounds<A, B>();
  }
  /// All elements of a range whose iterators are valid without it, such as a view or an lvalue.
  template <std::ranges::random_access_range Range>
    requires std::same_as<I, std::ranges::iterator_t<Range>> && std::ranges::borrowed_range<Range>
  explicit blocked_range(Range&& range)
      : first_(std::ranges::begin(range)), last_(first_ + std::ranges::distance(range)) {}

  /// For the loops themselves.
  detail::counted_source<detail::block_source<I>> source_for_loops() const {
    return {{first_}, detail::distance(first_, last_)};
  }

 private:
  I first_;
  I last_;
};
template <class A, class B> blocked_range(A, B) -> blocked_range<detail::common_index<A, B>>;
template <std::ranges::random_access_range Range>
blocked_range(Range&&) -> blocked_range<std::ranges::iterator_t<Range>>;

/// The cells of a table, for one loop over both indices: body(row, column) or body(context, row, column).
///
/// The loop visits the cells row by row, also in a piece that another worker has taken. A piece may begin and
/// end within a row, so few long rows are distributed as well as many short ones.
template <std::integral Row, std::integral Column> class range2d {
 public:
  /// Rows and columns from 0 on.
  range2d(Row rows, Column columns) : range2d(Row{0}, rows, Column{0}, columns) {}
  /// The rows [first_row, last_row) and the columns [first_column, last_column).
  range2d(Row first_row, Row last_row, Column first_column, Column last_column)
      : first_row_(first_row), last_row_(last_row), first_column_(first_column), last_column_(last_column) {}

  /// For the loops themselves. \throws std::length_error for more than 2^63 - 1 cells
  detail::counted_source<detail::table_source<Row, Column>> source_for_loops() const {
    // An empty table has no cell, however long its other side is.
    if (last_row_ <= first_row_ || last_column_ <= first_column_) return {{first_row_, first_column_, 0}, 0};
    const std::int64_t columns = detail::distance(first_column_, last_column_);
    std::int64_t count = 0;
    if (__builtin_mul_overflow(detail::distance(first_row_, last_row_), columns, &count))
      detail::refuse_length();
    return {{first_row_, first_column_, columns}, count};
  }

 private:
  Row first_row_;
  Row last_row_;
  Column first_column_;
  Column last_column_;
};

/// A range that can split itself: a tree, a part of a graph, a file. Its iterators need only `++` and `*`.
/// s.split() takes the later part of the elements out of s and returns it, or returns nothing if s is too
/// small to be split. TBB calls this a Range and Java a Spliterator.
///
/// The loop calls `split` until it returns nothing, whether another worker is idle or not, because a fork
/// costs about a nanosecond. So `split` should be cheap, and a part that it leaves whole should take some ten
/// nanoseconds at least.
template <class S>
concept splittable = std::ranges::input_range<S> && std::move_constructible<S> && detail::splits_itself<S>;

/// @}
}  // namespace sukima

namespace SUKIMA_NAMESPACE {
/// \addtogroup loops
/// @{

/// parallel_for over a blocked_range, a range2d, or any range that can be read more than once but is not
/// random access: std::list, std::map, std::forward_list, views::filter, …
///
/// The owner walks through such a range. The thief of a piece first walks to its beginning, from where the
/// owner is. These steps cost little compared with a body of some ten nanoseconds.
///
/// A range that does not know its size is counted first, by walking through it once. There are two
/// exceptions:
/// - If its iterators are one trivially copyable word (`set_bits`, std::forward_list) and no hint uses
///   numbers, the owner counts the rest when it gives a part away, and each iteration polls.
/// - A filter over a random-access range is neither counted nor walked through. Its pieces are those of the
///   range below, so several workers may call the predicate at the same time.
///
/// The body may change elements, but must not insert or remove any. Context, hints and exceptions are as for
/// parallel_for over integers.
/// \par Complexity one call of body for each element. If the range is not random access, each piece that is
/// given away takes at most as many more steps as its owner had elements left
template <detail::context_type C, detail::other_range Range, class Body, class... Hints>
  requires detail::body_over<Body, Range>
[[gnu::always_inline]] inline void parallel_for(C c, Range&& range, Body&& body, Hints... hints) {
  detail::check_context(c, "sukima::parallel_for");
  if constexpr (detail::taken_by_successor<Range, Hints...>) {
    auto first = std::ranges::begin(range);
    detail::parallel_for_between(c, detail::successor_source<decltype(first)>{}, first,
                                 std::ranges::end(range), body, hints...);
  } else {
    detail::with_source(range, [&](auto source, std::int64_t count) {
      detail::parallel_for_over(c, source, count, body, hints...);
    });
  }
}
/// The same without a context.
template <detail::other_range Range, class Body, class... Hints>
  requires detail::body_over<Body, Range>
void parallel_for(Range&& range, Body&& body, Hints... hints) {
  detail::with_context([&](context c) { sukima::parallel_for(c, range, body, hints...); });
}

/// parallel_reduce over the same ranges. With a blocked_range the body returns the result of a whole block.
/// The results are combined in the order of the elements.
/// \throws as parallel_for; also what `combine` throws
/// \par Complexity as parallel_for over these ranges, and one call of combine for each call of body and for
///      each piece given away
template <detail::context_type C, detail::other_range Range, class T, class Body, class Combine,
          class... Hints>
  requires detail::body_over<Body, Range>
[[gnu::always_inline]] inline T parallel_reduce(C c, Range&& range, T init, Body&& body, Combine&& combine,
                                                Hints... hints) {
  detail::check_context(c, "sukima::parallel_reduce");
  if constexpr (detail::taken_by_successor<Range, Hints...>) {
    auto first = std::ranges::begin(range);
    return detail::parallel_reduce_between<T>(c, detail::successor_source<decltype(first)>{}, first,
                                              std::ranges::end(range), std::move(init), body, combine,
                                              hints...);
  } else {
    return detail::with_source(range, [&](auto source, std::int64_t count) {
      return detail::parallel_reduce_over(c, source, count, std::move(init), body, combine, hints...);
    });
  }
}
/// The same without a context.
template <detail::other_range Range, class T, class Body, class Combine, class... Hints>
  requires detail::body_over<Body, Range>
T parallel_reduce(Range&& range, T init, Body&& body, Combine&& combine, Hints... hints) {
  return detail::with_context(
      [&](context c) { return sukima::parallel_reduce(c, range, std::move(init), body, combine, hints...); });
}

/// Calls body(x), or body(context, x), for each element of a range that splits itself.
/// \param c     the caller's own context
/// \param s     is moved in and split up
/// \param body  takes an element, and perhaps a context before it
/// \throws what the body or `split` throws, after parts that have not begun were dropped; `aborted` as for
///         fork2
/// \par Complexity one call of `split` and about one fork for each part that is not split further
template <detail::context_type C, splittable S, class Body>
  requires detail::callable_with<Body&, std::ranges::range_reference_t<S>>
void parallel_for(C c, S s, Body&& body) {
  detail::check_context(c, "sukima::parallel_for");
  detail::for_each_split(c, s, body);
}
/// The same without a context.
template <splittable S, class Body>
  requires detail::callable_with<Body&, std::ranges::range_reference_t<S>>
void parallel_for(S s, Body&& body) {
  detail::with_context([&](context c) { detail::for_each_split(c, s, body); });
}

/// Returns init ⊕ body(x1) ⊕ body(x2) ⊕ … over a range that splits itself, in the order of its elements,
/// where a ⊕ b is combine(a, b).
/// \throws as parallel_for over such a range; also what `combine` throws
/// \par Complexity as parallel_for over such a range, and one call of combine for each element and each part
template <detail::context_type C, splittable S, class T, class Body, class Combine>
  requires detail::callable_with<Body&, std::ranges::range_reference_t<S>>
T parallel_reduce(C c, S s, T init, Body&& body, Combine&& combine) {
  detail::check_context(c, "sukima::parallel_reduce");
  return detail::reduce_split<T, T>(c, s, std::move(init), body, combine);
}
/// The same without a context.
template <splittable S, class T, class Body, class Combine>
  requires detail::callable_with<Body&, std::ranges::range_reference_t<S>>
T parallel_reduce(S s, T init, Body&& body, Combine&& combine) {
  return detail::with_context(
      [&](context c) { return sukima::parallel_reduce(c, std::move(s), std::move(init), body, combine); });
}

/// @}
}  // namespace SUKIMA_NAMESPACE
