// SPDX-License-Identifier: Apache-2.0
// The context of the programs for OpenMP: tasks inside a parallel region, and work-sharing for plain loops.
#pragma once

#include <cstdint>

#include "fork_join/parts.hpp"

struct context {
  template <class F, class G>
  void fork2(F first, G second) const {
#pragma omp task default(none) shared(first)
    first(context{});
    second(context{});
#pragma omp taskwait
  }

  /// Calls f for each of few numbers.
  template <class F>
  void each(int first, int last, F f) const {
    if (first == last) return;
    for (int i = first; i < last - 1; ++i) {
#pragma omp task default(none) firstprivate(i) shared(f)
      f(context{}, i);
    }
    f(context{}, last - 1);
#pragma omp taskwait
  }

  template <class T, class Admissible, class F>
  T sum(int first, int last, Admissible admissible, F f) const {
    if (first == last) return T{};
    if (last - first > few_choices) {  // splits in halves, as a loop of tasks would do
      const int middle = first + (last - first) / 2;
      T a{}, b{};
      fork2([&](context c) { a = c.sum<T>(first, middle, admissible, f); },
            [&](context c) { b = c.sum<T>(middle, last, admissible, f); });
      return a += b;
    }
    parts<T> part;
    for (int i = first; i < last; ++i) {
      if (!admissible(i)) continue;
      T* to = &part.add();
#pragma omp task default(none) firstprivate(to, i) shared(f)
      *to = f(context{}, i);
    }
#pragma omp taskwait
    return part.sum();
  }

  /// Adds up the values of f for each bit that is set.
  template <class T, class F>
  T sum_of_bits(std::uint32_t bits, F f) const {
    parts<T> part;
    for (; bits != 0; bits &= bits - 1) {
      T* to = &part.add();
      const std::uint32_t bit = bits & -bits;
#pragma omp task default(none) firstprivate(to, bit) shared(f)
      *to = f(context{}, bit);
    }
#pragma omp taskwait
    return part.sum();
  }
};

template <class F>
void region(F f) {
#pragma omp parallel default(none) shared(f)
#pragma omp single
  f(context{});
}

template <class F>
void loop(int first, int last, F f) {
#pragma omp parallel for default(none) firstprivate(first, last) shared(f)
  for (int i = first; i < last; ++i) f(i);
}
