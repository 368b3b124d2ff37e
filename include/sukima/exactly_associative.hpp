// SPDX-License-Identifier: Apache-2.0
// Which reductions give the same bits however their operands are grouped.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace sukima::detail {

/// Values without a floating-point part: an operation on them that is associative is so to the last bit.
/// Classes count only if they are known, because others may hold a floating-point number.
template <class T> inline constexpr bool holds_no_float =
    !std::is_floating_point_v<T> && !std::is_class_v<T> && !std::is_union_v<T>;
template <class T, std::size_t N> inline constexpr bool holds_no_float<std::array<T, N>> = holds_no_float<T>;
template <class T> inline constexpr bool holds_no_float<std::optional<T>> = holds_no_float<T>;
template <class A, class B>
inline constexpr bool holds_no_float<std::pair<A, B>> = holds_no_float<A> && holds_no_float<B>;
template <class... T> inline constexpr bool holds_no_float<std::tuple<T...>> = (holds_no_float<T> && ...);
template <class T, class A> inline constexpr bool holds_no_float<std::vector<T, A>> = holds_no_float<T>;
template <class C, class R, class A> inline constexpr bool holds_no_float<std::basic_string<C, R, A>> = true;

}  // namespace sukima::detail

namespace sukima {
/// \addtogroup loops
/// @{

/// Whether combine(combine(a, b), c) and combine(a, combine(b, c)) are the same bits for all values of T.
///
/// Loops and searches that combine such values group them as is convenient. Under `sukima cluster run --hope`
/// all others group them by the numbers of the iterations, so that each node and each run gets the same bits.
/// True by default for integers, enumerations, pointers, and arrays, pairs, tuples, optionals, vectors and
/// strings of these. Specialize it for an operation of your own that is exact, as a maximum is:
///
///     struct larger { double operator()(double a, double b) const { return a > b ? a : b; } };
///     template <> inline constexpr bool sukima::exactly_associative<double, larger> = true;
/// \tparam Combine  the type of the callable, without const and reference
template <class T, class Combine> inline constexpr bool exactly_associative = detail::holds_no_float<T>;

/// @}
}  // namespace sukima
