// SPDX-License-Identifier: Apache-2.0
// Hints for forks and loops: guard, split, grain.
#pragma once

#include <sukima/detail/hints.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace sukima {
/// \addtogroup hints
/// @{

/// Makes a hint with the probability that a request splits this fork or loop. With 0 or less, and with NaN,
/// no request splits it; with 1 or more each request may. A request that does not split it tries the next
/// younger choice point.
/// \param p a number, or a function without arguments that returns one. The function is called for each
///          request, after backtracking to the state of this choice, and must not throw
template <class P> auto guard(P p) {
  if constexpr (std::is_arithmetic_v<P>) {
    auto constant = [value = static_cast<double>(p)] { return value; };
    return detail::guard_hint<decltype(constant)>{constant};
  } else {
    return detail::guard_hint<P>{std::move(p)};
  }
}

/// Makes a hint with a function that decides where a loop is split.
/// \param place place(next, end) gets the first iteration that has not begun and the end of the loop, both
///              counted from the loop's first iteration. It returns the first iteration to give away
///              (clamped). In a search over a forward range the numbers count from the choice in progress,
///              number 0
template <class F> detail::split_hint<F> split(F place) { return {std::move(place)}; }

/// Makes a hint with the number of iterations after which a loop polls. It is rarely needed, because the loop
/// measures its iterations itself.
/// \param iterations below 1: the loop measures
inline detail::grain_hint grain(std::int64_t iterations) { return {iterations}; }

/// @}
}  // namespace sukima
