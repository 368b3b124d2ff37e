// SPDX-License-Identifier: Apache-2.0
// The ranges of loops: integers and random-access iterators, their bounds and their number.
#pragma once

#include <sukima/detail/loop.hpp>
#include <sukima/detail/loop_end.hpp>

#include <concepts>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace sukima::detail {

#if defined(__SIZEOF_INT128__)
__extension__ using wide_integer = __int128;
__extension__ using wide_natural = unsigned __int128;
template <class I>
concept too_wide = std::is_same_v<I, wide_integer> || std::is_same_v<I, wide_natural>;
#else
template <class I>
concept too_wide = false;
#endif

/// A range that splits itself; the loops of ranges.hpp take it.
template <class Range>
concept splits_itself = requires(std::remove_cvref_t<Range>& r) {
  { r.split() } -> std::same_as<std::optional<std::remove_cvref_t<Range>>>;
};

/// Ranges whose elements a loop reaches by numbers.
template <class Range>
concept indexed_range = std::ranges::random_access_range<Range> && !splits_itself<Range>;

/// Includes wide integers only so that a clear message can refuse them (require_bounds).
template <class I>
concept whole_number = (std::integral<I> && !std::is_same_v<I, bool>) || too_wide<I>;
template <class I>
concept loop_index = whole_number<I> || std::random_access_iterator<I>;

/// first + i. The sum fits into the type; i may not fit, as in a loop over all of `int`.
template <whole_number I> constexpr I sum_of(I first, std::int64_t i) noexcept {
  if constexpr (sizeof(I) > sizeof i) {
    return static_cast<I>(first + static_cast<I>(i));
  } else {
    using modular = std::make_unsigned_t<I>;
    return static_cast<I>(static_cast<modular>(static_cast<modular>(first) + static_cast<modular>(i)));
  }
}

/// The first of a loop's elements, and access to the i-th. It is the simplest source; ranges.hpp documents
/// the others.
///
/// A source defines the types of a body's arguments for one iteration (`arguments`). It calls f with them for
/// one iteration (`visit`) or for several (`each`). It states whether it gives out blocks of iterations
/// (`in_blocks`), and whether it changes while a loop walks through it, so that each piece needs its own
/// (`walks`).
template <loop_index I> struct element_source {
  I first;
  decltype(auto) operator[](std::int64_t i) const {
    if constexpr (whole_number<I>)
      return detail::sum_of(first, i);
    else
      return first[static_cast<std::iter_difference_t<I>>(i)];
  }
  template <class F> [[gnu::always_inline]] void visit(std::int64_t i, F&& f) const { f((*this)[i]); }
  /// Calls f with the elements [i, stop). It counts in the elements' own type, which can be vectorised. The
  /// element at `stop` is at most the end of the whole loop, so the type has it. The test comes before the
  /// body: otherwise g++ peels the first iteration off, and vectors that begin aligned become unaligned.
  template <class F> [[gnu::always_inline]] void each(std::int64_t i, std::int64_t stop, F&& f) const {
    if constexpr (whole_number<I>) {
      const I end = detail::sum_of(first, stop);
      for (I k = detail::sum_of(first, i); k != end; ++k)
        f(I{k});  // a copy: the body may change its argument
    } else {
      const I end = first + static_cast<std::iter_difference_t<I>>(stop);
      for (I k = first + static_cast<std::iter_difference_t<I>>(i); k != end; ++k) f(*k);
    }
  }
  using type = decltype(std::declval<const element_source&>()[0]);
  using arguments = argument_list<type>;
  static constexpr bool in_blocks = false;
  static constexpr bool walks = false;
};
template <class I> using element_of = typename element_source<I>::type;

[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_length() {
  throw std::length_error("sukima: a loop has more than 2^63 - 1 iterations; split it into two");
}

/// A number of iterations, perhaps of a wider type. \throws std::length_error if it is too large
template <class Count> std::int64_t checked_length(Count count) {
  if constexpr (sizeof count > sizeof(std::int64_t)) {
    if (count > static_cast<Count>(std::numeric_limits<std::int64_t>::max())) refuse_length();
  }
  return static_cast<std::int64_t>(count);
}

template <loop_index I> std::int64_t distance(I first, I last) {
  if constexpr (whole_number<I>) {
    if (last <= first) return 0;
    const auto count =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first));
    if (sizeof(I) >= sizeof count && count < 0) [[unlikely]]
      refuse_length();
    return count;
  } else {
    // Of a wider type perhaps. If it is negative, its lower 64 bits may be those of a positive number.
    const auto count = last - first;
    return count > 0 ? detail::checked_length(count) : 0;
  }
}

/// The number of a range's elements. The distance in a view of 64-bit integers has a wider type.
template <class Range> std::int64_t length_of(Range& range) {
  return detail::checked_length(std::ranges::distance(range));
}

/// The end of a loop over a random-access range: the number of its elements, or a condition.
template <class Range, class I> auto end_of(Range& range, I first) {
  static_assert(
      !std::same_as<std::ranges::sentinel_t<Range>, std::unreachable_sentinel_t>,
      "the range of a sukima loop or search has no end, which parallel code looks for first: give it "
      "one, as std::views::iota(0, n) or std::views::take_while do");
  if constexpr (ends_by_condition<Range>)
    return end_by_condition<I, std::ranges::sentinel_t<Range>>{first, std::ranges::end(range)};
  else
    return detail::length_of(range);
}

/// Integers of two types become their common type.
template <class A, class B> using common_index =
    std::conditional_t<std::is_same_v<A, B>, A, std::common_type_t<A, B>>;
template <class A, class B> constexpr void require_bounds() noexcept {
  using index = common_index<A, B>;
  if constexpr (whole_number<index>) {
    static_assert(!too_wide<index>, "the bounds of a sukima loop are integers of at most 64 bits");
    static_assert(
        too_wide<index> || std::is_signed_v<index> || (!std::is_signed_v<A> && !std::is_signed_v<B>),
        "the bounds of a sukima loop are both signed or both unsigned, because a negative bound "
        "would become a large one: write std::size_t{0} instead of 0");
  }
}

}  // namespace sukima::detail
