// SPDX-License-Identifier: Apache-2.0
// Optional arguments of forks and loops: guard, split, grain, on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace sukima::detail {

/// Placeholder for a hint that was not given.
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

/// The place where the given-away part should run and, if there are two hints, the place of the rest.
template <class P, class First = no_hint> struct place_hint {
  P where;
  [[no_unique_address]] First first;
};

/// Base of a branch that has a hint of its own.
struct with_place {};

template <class T> inline constexpr bool is_place = false;
template <class P, class First> inline constexpr bool is_place<place_hint<P, First>> = true;
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
    return detail::pick_guard(more...);
}
inline no_hint pick_place() { return {}; }
template <class Hint, class... More> auto pick_place(Hint hint, More... more) {
  if constexpr (is_place<Hint>)
    return hint;
  else
    return detail::pick_place(more...);
}
template <class... Hint> inline constexpr bool has_place = (is_place<Hint> || ...);
inline no_hint pick_split() { return {}; }
template <class Hint, class... More> auto pick_split(Hint hint, More... more) {
  if constexpr (is_split<Hint>)
    return hint;
  else
    return detail::pick_split(more...);
}
inline no_hint pick_grain() { return {}; }
template <class Hint, class... More> auto pick_grain(Hint hint, More... more) {
  if constexpr (is_grain<Hint>)
    return hint;
  else
    return detail::pick_grain(more...);
}
/// Whether all arguments are hints, and no form of hint is given more often than stated.
template <class... Hint>
constexpr bool are_hints(std::size_t guards, std::size_t splits, std::size_t grains,
                         std::size_t places) noexcept {
  const std::size_t given_guards = (std::size_t{0} + ... + is_guard<Hint>);
  const std::size_t given_splits = (std::size_t{0} + ... + is_split<Hint>);
  const std::size_t given_grains = (std::size_t{0} + ... + is_grain<Hint>);
  const std::size_t given_places = (std::size_t{0} + ... + is_place<Hint>);
  return given_guards <= guards && given_splits <= splits && given_grains <= grains &&
         given_places <= places &&
         given_guards + given_splits + given_grains + given_places == sizeof...(Hint);
}
template <class... Hint> constexpr void require_fork_hints() noexcept {
  static_assert(
      are_hints<Hint...>(1, 0, 0, 1),
      "sukima::fork2 takes two functions and at most one sukima::guard and one sukima::on; for more "
      "functions use sukima::fork");
}
template <class... Hint> constexpr void require_loop_hints() noexcept {
  static_assert(are_hints<Hint...>(1, 1, 1, 0),
                "the last arguments of a sukima loop are hints: sukima::guard, sukima::split and "
                "sukima::grain, each at most once; sukima::parallel_for also takes one sukima::on");
}
template <class... Hint> constexpr void require_search_hints() noexcept {
  static_assert(are_hints<Hint...>(1, 1, 0, 0),
                "the last arguments of sukima::search are hints: sukima::guard and sukima::split, each at "
                "most once");
}
/// The number of iterations of a `grain` hint; 0: the loop measures its iterations itself.
inline std::int64_t iterations_of(no_hint) noexcept { return 0; }
inline std::int64_t iterations_of(grain_hint g) noexcept { return g.iterations; }

}  // namespace sukima::detail
