// SPDX-License-Identifier: Apache-2.0
// The context of the programs for OpenMP: tasks inside a parallel region, and work-sharing for plain loops.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

struct context {
  template <class F, class G>
  void fork2(F first, G second) const {
#pragma omp task default(none) shared(first)
    first(context{});
    second(context{});
#pragma omp taskwait
  }

  template <class T, class Admissible, class F>
  T sum(int first, int last, Admissible admissible, F f) const {
    constexpr int few = 32;  // parts that need no allocation
    if (last - first <= few) {
      std::array<T, few> parts;
      return sum_of_tasks(parts.data(), first, last, admissible, f);
    }
    std::vector<T> parts(static_cast<std::size_t>(last - first));
    return sum_of_tasks(parts.data(), first, last, admissible, f);
  }

 private:
  template <class T, class Admissible, class F>
  static T sum_of_tasks(T* parts, int first, int last, Admissible& admissible, F& f) {
    int tasks = 0;
    for (int i = first; i < last; ++i) {
      if (!admissible(i)) continue;
      T* part = parts + tasks++;
#pragma omp task default(none) firstprivate(part, i) shared(f)
      *part = f(context{}, i);
    }
#pragma omp taskwait
    T total{};
    for (int i = 0; i < tasks; ++i) total += parts[i];
    return total;
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
