// SPDX-License-Identifier: Apache-2.0
// The context of the programs for oneTBB, in the forms that are fastest there: parallel_invoke for two
// functions, a task group for few choices, parallel_reduce for long ranges.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_invoke.h>
#include <tbb/parallel_reduce.h>
#include <tbb/task_group.h>

#include <cstdint>
#include <functional>

#include "fork_join/parts.hpp"

struct context {
  template <class F, class G>
  void fork2(F first, G second) const {
    tbb::parallel_invoke([&] { first(context{}); }, [&] { second(context{}); });
  }

  /// Calls f for each of few numbers.
  template <class F>
  void each(int first, int last, F f) const {
    if (first == last) return;
    tbb::task_group group;
    for (int i = first; i < last - 1; ++i) group.run([&f, i] { f(context{}, i); });
    group.run_and_wait([&f, last] { f(context{}, last - 1); });
  }

  template <class T, class Admissible, class F>
  T sum(int first, int last, Admissible admissible, F f) const {
    if (first == last) return T{};
    return last - first <= few_choices ? sum_of_few<T>(first, last, admissible, f)
                                       : sum_of_many<T>(first, last, admissible, f);
  }

  /// Adds up the values of f for each bit that is set.
  template <class T, class F>
  T sum_of_bits(std::uint32_t bits, F f) const {
    parts<T> part;
    tbb::task_group group;
    for (; bits != 0; bits &= bits - 1)
      group.run([&f, &to = part.add(), bit = bits & -bits] { to = f(context{}, bit); });
    group.wait();
    return part.sum();
  }

 private:
  template <class T, class Admissible, class F>
  static T sum_of_few(int first, int last, Admissible& admissible, F& f) {
    parts<T> part;
    tbb::task_group group;
    for (int i = first; i < last; ++i)
      if (admissible(i)) group.run([&f, &to = part.add(), i] { to = f(context{}, i); });
    group.wait();
    return part.sum();
  }

  template <class T, class Admissible, class F>
  static T sum_of_many(int first, int last, Admissible& admissible, F& f) {
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
