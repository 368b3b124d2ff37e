// SPDX-License-Identifier: Apache-2.0
// The context of the programs in fork_join/ in the words of Sukima, and the runtime that all programs here
// use.
#pragma once

#include <sukima/sukima.hpp>

#include <functional>

/// The runtime that `bench::with_system` has started.
sukima::runtime& system_runtime() noexcept;

struct context {
  sukima::context at;

  template <class F, class G>
  void fork2(F first, G second) const {
    sukima::fork2(
        at, [&first](sukima::context below) { first(context{below}); },
        [second](sukima::context below) { second(context{below}); });
  }

  template <class T, class Admissible, class F>
  T sum(int first, int last, Admissible admissible, F f) const {
    return sukima::parallel_reduce(
        at, first, last, T{},
        [admissible, f](sukima::context below, int i) { return admissible(i) ? f(context{below}, i) : T{}; },
        std::plus{});
  }
};

template <class F>
void region(F f) {
  system_runtime().run([&f](sukima::context c) { f(context{c}); });
}

template <class F>
void loop(int first, int last, F f) {
  system_runtime().run([&](sukima::context c) { sukima::parallel_for(c, first, last, f); });
}
