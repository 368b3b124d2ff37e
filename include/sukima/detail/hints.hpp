// SPDX-License-Identifier: Apache-2.0
// Optional arguments of forks and loops: guard, split, grain.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

namespace sukima::detail {

/// Stands where a hint was not given.
struct no_hint {};

template <class F> struct guard_hint {
  F probability;
  double operator()() { return probability(); }
};
template <class F> struct split_hint {
  F place;
};
struct grain_hint {
  std::int64_t iterations;
};

template <class T> inline constexpr bool is_guard = false;
template <class F> inline constexpr bool is_guard<guard_hint<F>> = true;
template <class T> inline constexpr bool is_split = false;
template <class F> inline constexpr bool is_split<split_hint<F>> = true;
template <class T> inline constexpr bool is_grain = std::is_same_v<T, grain_hint>;

inline no_hint pick_guard() { return {}; }
template <class Hint, class... More> auto pick_guard(Hint hint, More... more) {
  if constexpr (is_guard<Hint>)
    return hint;
  else
    return pick_guard(more...);
}
inline no_hint pick_split() { return {}; }
template <class Hint, class... More> auto pick_split(Hint hint, More... more) {
  if constexpr (is_split<Hint>)
    return hint;
  else
    return pick_split(more...);
}
inline no_hint pick_grain() { return {}; }
template <class Hint, class... More> auto pick_grain(Hint hint, More... more) {
  if constexpr (is_grain<Hint>)
    return hint;
  else
    return pick_grain(more...);
}
/// 0: the loop measures its iterations itself.
inline std::int64_t iterations_of(no_hint) noexcept { return 0; }
inline std::int64_t iterations_of(grain_hint g) noexcept { return g.iterations; }

}  // namespace sukima::detail

namespace sukima {

/// The probability, evaluated for each request, that this fork or loop may be split now: ≤ 0 and NaN never, ≥
/// 1 always. What a refusal protects is passed over for the next younger choice. `p` is a number or a
/// function that returns one; a function is called after backtracking to the state of this choice and must
/// not throw.
template <class P> auto guard(P p) {
  if constexpr (std::is_arithmetic_v<P>) {
    auto constant = [value = static_cast<double>(p)] { return value; };
    return detail::guard_hint<decltype(constant)>{constant};
  } else {
    return detail::guard_hint<P>{std::move(p)};
  }
}

/// Where a loop is split: called with the first iteration that has not begun and the end of the loop, both as
/// numbers counted from the loop's first iteration; returns the first iteration to give away (clamped).
template <class F> detail::split_hint<F> split(F place) { return {std::move(place)}; }

/// Iterations that belong together: the loop polls only after so many. Rarely needed,
/// the loop measures its iterations itself. Values below 1 mean "measure".
inline detail::grain_hint grain(std::int64_t iterations) { return {iterations}; }

}  // namespace sukima
