// SPDX-License-Identifier: Apache-2.0
// The random choice among the victims by weight: only the arithmetic.
#pragma once

namespace sukima::detail {

/// Chooses one of 0 … count−1, each with a probability in proportion to its weight.
/// \param weight  weight(i) ≥ 0; the second call may return another value, because other threads set it
/// \param share   the draw, in [0, 1)
/// \returns count: none, because all weights are 0, or have become smaller in between
/// Complexity: two calls of `weight` for each.
template <class Weight> unsigned weighted_draw(unsigned count, Weight weight, double share) {
  double sum = 0;
  for (unsigned i = 0; i < count; ++i) sum += weight(i);
  double draw = sum * share;
  for (unsigned i = 0; i < count; ++i) {
    const double own = weight(i);
    if (draw < own) return i;
    draw -= own;
  }
  return count;
}

}  // namespace sukima::detail
