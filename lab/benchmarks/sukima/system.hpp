// SPDX-License-Identifier: Apache-2.0
// Implements the context of the programs in fork_join/ with Sukima. It also declares the runtime of all
// programs here.
#pragma once

#include <sukima/sukima.hpp>

#include <cstdint>
#include <functional>

/// The runtime that `bench::with_system` started.
sukima::runtime& system_runtime() noexcept;

namespace bench {
class run;
/// Adds the largest numbers of fibers in use, and parked at joins, since the runtime began.
void fields_of_system(run& r);
}  // namespace bench

/// \tparam At  one of Sukima's contexts: parallel code, or a sequential clone
template <class At>
struct context {
  At at;

  template <class F, class G>
  void fork2(F first, G second) const {
    sukima::fork2(
        at, [&first](auto below) { first(context<decltype(below)>{below}); },
        [second](auto below) { second(context<decltype(below)>{below}); });
  }

  /// Calls f for each of few numbers.
  template <class F>
  void each(int first, int last, F f) const {
    sukima::parallel_for(at, first, last, [f](auto below, int i) { f(context<decltype(below)>{below}, i); });
  }

  template <class T, class Admissible, class F>
  T sum(int first, int last, Admissible admissible, F f) const {
    return sukima::parallel_reduce(
        at, first, last, T{},
        [admissible, f](auto below, int i) {
          return admissible(i) ? f(context<decltype(below)>{below}, i) : T{};
        },
        std::plus{});
  }

  /// Adds up the values of f for each bit that is set.
  template <class T, class F>
  T sum_of_bits(std::uint32_t bits, F f) const {
    return sukima::parallel_reduce(
        at, sukima::set_bits(bits), T{},
        [&f](auto below, std::uint32_t bit) { return f(context<decltype(below)>{below}, bit); }, std::plus{});
  }

  template <class I, class Less>
  void nth_element(I first, I nth, I last, Less less) const {
    sukima::parallel_nth_element(at, first, nth, last, less);
  }
};

template <class F>
void region(F f) {
  system_runtime().run([&f](sukima::context c) { f(context<sukima::context>{c}); });
}

template <class F>
void loop(int first, int last, F f) {
  system_runtime().run([&](sukima::context c) { sukima::parallel_for(c, first, last, f); });
}
