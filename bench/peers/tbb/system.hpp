// SPDX-License-Identifier: Apache-2.0
// The context of the programs for oneTBB: parallel_invoke, task groups and parallel_for, as its users write them.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_invoke.h>
#include <tbb/parallel_reduce.h>

#include <functional>

struct context {
  template <class F, class G>
  void fork2(F first, G second) const {
    tbb::parallel_invoke([&] { first(context{}); }, [&] { second(context{}); });
  }

  template <class T, class Admissible, class F>
  T sum(int first, int last, Admissible admissible, F f) const {
    return tbb::parallel_reduce(
        tbb::blocked_range<int>(first, last), T{},
        [&](const tbb::blocked_range<int>& range, T part) {
          for (int i = range.begin(); i != range.end(); ++i)
            if (admissible(i)) part += f(context{}, i);
          return part;
        },
        std::plus<T>{});
  }
};

template <class F>
void region(F f) {
  f(context{});
}

template <class F>
void loop(int first, int last, F f) {
  tbb::parallel_for(tbb::blocked_range<int>(first, last), [&](const tbb::blocked_range<int>& range) {
    for (int i = range.begin(); i != range.end(); ++i) f(i);
  });
}
