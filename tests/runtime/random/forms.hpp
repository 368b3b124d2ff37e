// SPDX-License-Identifier: Apache-2.0
// The forms of a node: with or without a context, with hints, over numbers or by successor only.
#pragma once

#include "program.hpp"

#include <sukima/hints.hpp>
#include <sukima/place.hpp>

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

namespace random_programs {

/// Calls f with std::true_type if the node's parent must call it with a context, else with std::false_type.
template <class F> auto in_form_of(const node& n, F f) {
  return n.with_context ? f(std::true_type{}) : f(std::false_type{});
}

/// A place near the node's own.
inline sukima::place place_in(const node& n, int further = 0) {
  return sukima::place(static_cast<sukima_place>(n.place + static_cast<unsigned>(further % 5)));
}
inline auto guard_of(const node& n) {
  return sukima::guard([p = n.guard] { return p; });
}
inline auto split_of(const node& n) {
  return sukima::split([uneven = n.splits_unevenly](std::int64_t next, std::int64_t end) {
    return next + (end - next) / (uneven ? 4 : 2);
  });
}

/// The numbers below `count`, each known by its successor only.
template <class Number> struct successive {
  struct iterator {
    using value_type = Number;
    using difference_type = std::ptrdiff_t;
    Number at{};
    Number operator*() const { return at; }
    iterator& operator++() {
      ++at;
      return *this;
    }
    iterator operator++(int) { return {at++}; }
    friend bool operator==(const iterator&, const iterator&) = default;
  };
  int count;
  iterator begin() const { return {}; }
  iterator end() const { return {static_cast<Number>(count)}; }
};
/// Calls f with the hints of a loop, as a tuple, and what its iterations are stated by: two integers or a
/// range.
/// Only the combinations that there are get compiled, for each kind of context.
template <class F> auto with_iterations(const node& n, F f) {
  if (by_successor(n)) {
    const successive<int> range{n.iterations};
    return n.guard == 2 ? f(std::tuple(), range) : f(std::tuple(guard_of(n)), range);
  }
  if (n.guard == 2) return f(std::tuple(), 0, n.iterations);
  return f(std::tuple(guard_of(n), split_of(n), sukima::grain(n.grain)), 0, n.iterations);
}

}  // namespace random_programs
