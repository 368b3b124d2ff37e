// SPDX-License-Identifier: Apache-2.0
// The sources of loops over other ranges than integers and random-access ranges.
#pragma once

#include <sukima/detail/successors.hpp>
#include <sukima/loop.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <iterator>
#include <memory>
#include <ranges>
#include <type_traits>
#include <utility>

namespace sukima::detail {

/// Blocks of the integers or iterators from `first` on: f(begin, end).
template <loop_index I> struct block_source {
  I first;
  using arguments = argument_list<I, I>;
  static constexpr bool in_blocks = true;
  static constexpr bool walks = false;
  template <class F> [[gnu::always_inline]] void each(std::int64_t i, std::int64_t stop, F&& f) const {
    f(place(i), place(stop));
  }

 private:
  I place(std::int64_t i) const {
    if constexpr (whole_number<I>)
      return detail::sum_of(first, i);
    else
      return first + static_cast<std::iter_difference_t<I>>(i);
  }
};

/// The places of a table, row by row: f(row, column).
template <std::integral Row, std::integral Column> struct table_source {
  Row first_row;
  Column first_column;
  std::int64_t columns;
  using arguments = argument_list<Row, Column>;
  static constexpr bool in_blocks = false;
  static constexpr bool walks = false;
  template <class F> [[gnu::always_inline]] void visit(std::int64_t i, F&& f) const {
    f(element_source<Row>{first_row}[i / columns], element_source<Column>{first_column}[i % columns]);
  }
  template <class F> [[gnu::always_inline]] void each(std::int64_t i, std::int64_t stop, F&& f) const {
    std::int64_t row = i / columns;
    std::int64_t column = i % columns;
    for (std::int64_t left = stop - i; left > 0; ++row, column = 0) {
      const std::int64_t here = std::min(left, columns - column);
      const Row r = element_source<Row>{first_row}[row];
      element_source<Column>{first_column}.each(column, column + here, [&](Column k) { f(Row(r), k); });
      left -= here;
    }
  }
};

/// The elements from `base` on that a predicate accepts.
template <std::random_access_iterator I, class Predicate> struct filtered_source {
  element_source<I> base;
  Predicate* accepts;
  using arguments = argument_list<element_of<I>>;
  static constexpr bool in_blocks = false;
  static constexpr bool walks = false;
  template <class F> [[gnu::always_inline]] void visit(std::int64_t i, F&& f) const {
    auto&& x = base[i];
    if (std::invoke(*accepts, x)) f(std::forward<decltype(x)>(x));
  }
  template <class F> [[gnu::always_inline]] void each(std::int64_t i, std::int64_t stop, F&& f) const {
    base.each(i, stop, [&](auto&& x) {
      if (std::invoke(*accepts, x)) f(std::forward<decltype(x)>(x));
    });
  }
};

/// Elements from an iterator on that can be reached only one after the other. The loop that owns the source
/// moves it forward. A piece that is split off gets a copy of the source at the owner's position, and its
/// thief walks from there to the piece's first element.
///
/// `at` and `number` match whenever the loop polls. Copies are made only then: by the owner's fiber, or by a
/// helper while that fiber is suspended.
template <std::forward_iterator I> struct walking_source {
  mutable I at;
  mutable std::int64_t number = 0;  ///< of the iteration whose element `at` points to
  using arguments = argument_list<std::iter_reference_t<I>>;
  static constexpr bool in_blocks = false;
  static constexpr bool walks = true;
  template <class F> [[gnu::always_inline]] void visit(std::int64_t i, F&& f) const {
    go_to(i);
    f(*at);
  }
  template <class F> [[gnu::always_inline]] void each(std::int64_t i, std::int64_t stop, F&& f) const {
    go_to(i);
    I k = at;
    for (std::int64_t n = i; n != stop; ++n, ++k) f(*k);
    at = std::move(k);
    number = stop;
  }

 private:
  void go_to(std::int64_t i) const {
    for (; number < i; ++number) ++at;
  }
};

template <class Source> struct counted_source {
  using type = Source;
  Source source;
  std::int64_t count;
};

template <class Range> inline constexpr bool is_filter = false;
template <std::ranges::random_access_range View, class Predicate>
  requires std::copy_constructible<View>
inline constexpr bool is_filter<std::ranges::filter_view<View, Predicate>> = true;

/// Ranges that make their own source: blocked_range, range2d.
template <class Range>
concept with_own_source = requires(const std::remove_cvref_t<Range>& r) { r.source_for_loops(); };

/// The ranges of the overloads in ranges.hpp: those that parallel_for in loop.hpp does not take.
template <class Range>
concept other_range =
    with_own_source<Range> ||
    (std::ranges::forward_range<Range> && !std::ranges::random_access_range<Range> && !splits_itself<Range>);

/// Ranges that a loop takes element by element without counting them first: counting would take as long as
/// all its splits together. Hints with numbers of iterations need the count.
template <class Range, class... Hints>
concept taken_by_successor =
    !with_own_source<Range> && !std::ranges::random_access_range<Range> && !std::ranges::sized_range<Range> &&
    successor_range<Range> && !(is_split<Hints> || ...) && !(is_grain<Hints> || ...);

}  // namespace sukima::detail

namespace SUKIMA_DETAIL_NAMESPACE {

/// Calls f(source, count) with a range's source. Objects that the source refers to live until f returns.
template <class Range, class F> decltype(auto) with_source(Range&& range, F&& f) {
  if constexpr (with_own_source<Range>) {
    const auto own = range.source_for_loops();
    return f(own.source, own.count);
  } else if constexpr (is_filter<std::remove_cvref_t<Range>>) {
    auto base = range.base();
    auto first = std::ranges::begin(base);
    // Not constant, as in the view's own iterators: the predicate's call operator need not be const.
    using predicate = std::remove_cvref_t<decltype(range.pred())>;
    auto* const accepts = const_cast<predicate*>(std::addressof(range.pred()));
    return f(filtered_source<decltype(first), predicate>{{first}, accepts}, detail::length_of(base));
  } else if constexpr (std::ranges::random_access_range<Range>) {
    auto first = std::ranges::begin(range);
    return f(element_source<decltype(first)>{first}, detail::length_of(range));
  } else {
    const std::int64_t count = detail::length_of(range);
    return f(walking_source<std::ranges::iterator_t<Range>>{std::ranges::begin(range)}, count);
  }
}

/// The arguments that a body is given for an element of a range.
template <class Range> struct arguments_of {
  using type = argument_list<std::ranges::range_reference_t<Range>>;
};
template <with_own_source Range> struct arguments_of<Range> {
  using type = typename decltype(std::declval<const std::remove_cvref_t<Range>&>()
                                     .source_for_loops())::type::arguments;
};
template <class Body, class Range, class... Before>
concept body_over = body_is_callable<Body&, typename arguments_of<Range>::type, Before...>;

/// A branch with a plain context, which never runs in a clone.
template <class F> struct plain_branch {
  F f;
  decltype(auto) operator()(context c) const { return f(c); }
};
/// Forks a range that splits itself, with one branch for each part. The branches exist as clones if the body
/// does.
/// \tparam Before  what the body takes before an element, such as the sum of a fold
template <class S, class Body, class... Before, context_type C, class First, class Second>
auto fork_parts(C c, First first, Second second) {
  if constexpr (body_is_generic<Body&, argument_list<std::ranges::range_reference_t<S>>, Before...>)
    return detail::fork2_in(c, std::move(first), std::move(second), no_hint{});
  else
    return detail::fork2_in(c, plain_branch<First>{first}, plain_branch<Second>{second}, no_hint{});
}

/// Visits the elements of a range that splits itself, by forks: a thief gets the largest part that is left.
template <context_type C, class S, class Body> void for_each_split(C c, S& s, Body& body) {
  if (std::optional<S> rest = s.split()) {
    detail::fork_parts<S, Body>(
        c, [&](auto below) { detail::for_each_split(below, s, body); },
        [&body, &rest](auto below) { detail::for_each_split(below, *rest, body); });
    return;
  }
  for (auto&& x : s) detail::call(c, body, std::forward<decltype(x)>(x));
}

/// Reduces the elements of a range that splits itself, by forks.
/// \tparam Sum  T if the sum begins with `init`; std::optional<T> in the parts to the right of that
template <class T, class Sum, context_type C, class S, class Body, class Combine>
Sum reduce_split(C c, S& s, Sum sum, Body& body, Combine& combine) {
  const std::conditional_t<std::is_same_v<Sum, T>, fold_into<T, Combine>, fold_into_nothing<T, Combine>> fold{
      combine};
  if (std::optional<S> rest = s.split()) {
    auto [here, there] = detail::fork_parts<S, Body>(
        c, [&](auto below) { return detail::reduce_split<T, Sum>(below, s, std::move(sum), body, combine); },
        [&](auto below) {
          return detail::reduce_split<T, std::optional<T>>(below, *rest, std::optional<T>(), body, combine);
        });
    if (there) fold(here, std::move(*there));
    return std::move(here);
  }
  for (auto&& x : s) fold(sum, detail::call(c, body, std::forward<decltype(x)>(x)));
  return sum;
}

/// Adds the elements of a range that splits itself to `sum` in place, by forks. The parts to the right begin
/// with copies of `identity`.
template <class T, context_type C, class S, class Body, class Combine>
T fold_split(C c, S& s, T sum, const T& identity, Body& body, Combine& combine) {
  if (std::optional<S> rest = s.split()) {
    auto [here, there] = detail::fork_parts<S, Body, T&>(
        c,
        [&](auto below) { return detail::fold_split<T>(below, s, std::move(sum), identity, body, combine); },
        [&](auto below) {
          return detail::fold_split<T>(below, *rest, T(identity), identity, body, combine);
        });
    return combine(std::move(here), std::move(there));
  }
  for (auto&& x : s) detail::call(c, body, sum, std::forward<decltype(x)>(x));
  return sum;
}

}  // namespace SUKIMA_DETAIL_NAMESPACE
