// SPDX-License-Identifier: Apache-2.0
// The context of the sequential program, for those fork-join programs whose best plain form is the same
// program without forks.
#pragma once

#include <cstdint>

struct context {
  template <class F, class G>
  void fork2(F first, G second) const {
    first(*this);
    second(*this);
  }

  template <class F>
  void each(int first, int last, F f) const {
    for (int i = first; i < last; ++i) f(*this, i);
  }

  template <class T, class Admissible, class F>
  T sum(int first, int last, Admissible admissible, F f) const {
    T total{};
    for (int i = first; i < last; ++i)
      if (admissible(i)) total += f(*this, i);
    return total;
  }

  /// Adds up the values of f for each bit that is set.
  template <class T, class F>
  T sum_of_bits(std::uint32_t bits, F f) const {
    T total{};
    for (; bits != 0; bits &= bits - 1) total += f(*this, bits & -bits);
    return total;
  }
};

template <class F>
void region(F f) {
  f(context{});
}

template <class F>
void loop(int first, int last, F f) {
  for (int i = first; i < last; ++i) f(i);
}
