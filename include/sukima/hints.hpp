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

/// The probability that a request may split this fork or loop: ≤ 0 and NaN never, ≥ 1 always. If it is not
/// split, the next younger choice is tried. `p` is a number, or a function that returns one; it is called for
/// each request, after backtracking to the state of this choice, and must not throw.
template <class P> auto guard(P p) {
  if constexpr (std::is_arithmetic_v<P>) {
    auto constant = [value = static_cast<double>(p)] { return value; };
    return detail::guard_hint<decltype(constant)>{constant};
  } else {
    return detail::guard_hint<P>{std::move(p)};
  }
}

/// A function that decides where a loop is split. Its arguments are the first iteration that has not begun
/// and the end of the loop, both counted from the loop's first iteration. It returns the first iteration to
/// give away (clamped). In a search over a forward range the numbers count from the choice in progress,
/// number 0.
template <class F> detail::split_hint<F> split(F place) { return {std::move(place)}; }

/// Number of iterations that belong together: the loop polls only after that many. It is rarely needed,
/// because the loop measures its iterations itself. Values below 1 mean "measure".
inline detail::grain_hint grain(std::int64_t iterations) { return {iterations}; }

/// @}
}  // namespace sukima
