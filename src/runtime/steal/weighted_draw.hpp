// SPDX-License-Identifier: Apache-2.0
// The draw by weight among the victims: numbers alone.
#pragma once

namespace sukima::detail {

/// Which of 0 … count−1 a draw falls to, each with a probability in proportion to its weight.
/// \param weight  weight(i) ≥ 0; it may answer otherwise the second time it is asked: other threads set it
/// \param share   the draw, in [0, 1)
/// \returns count: to none, because all weigh nothing, or weigh less than they did
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
