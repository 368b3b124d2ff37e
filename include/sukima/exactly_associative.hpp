// SPDX-License-Identifier: Apache-2.0
// exactly_associative: marks the reductions whose result has the same bits however the operands are grouped.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace sukima::detail {

/// Whether values of this type have no floating-point part. An associative operation on such values gives the
/// same bits in each grouping. Of classes only those below count, because others may hold a floating-point
/// number.
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

/// Whether combine(combine(a, b), c) and combine(a, combine(b, c)) have the same bits for all values of T.
///
/// Loops and searches that combine such values group them as is convenient. Under `sukima cluster run --hope`
/// all other loops and searches group values by the numbers of the iterations, so that each node and each run
/// gets the same bits.
/// True by default for integers, enumerations, pointers, and arrays, pairs, tuples, optionals, vectors and
/// strings of these. Specialize it for an operation of your own that is exact, as a maximum is:
///
///     struct larger { double operator()(double a, double b) const { return a > b ? a : b; } };
///     template <> inline constexpr bool sukima::exactly_associative<double, larger> = true;
/// \tparam Combine  the type of the callable, without const and reference
template <class T, class Combine> inline constexpr bool exactly_associative = detail::holds_no_float<T>;

/// @}
}  // namespace sukima
