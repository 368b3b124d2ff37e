// SPDX-License-Identifier: Apache-2.0
// The attraction that the equal masses of a lattice of (2n + 1)³ points exert on one point.
#pragma once

#include <cmath>
#include <string>

#include "kernels/matrix.hpp"
#include "kernels/vector3.hpp"

namespace kernels {

using force = vector3;

/// Lattice points have the coordinates -n … n; the point is outside, so that no distance is 0.
struct grav_problem {
  int n = 0;
  [[nodiscard]] double px() const { return n + 1.5; }
  [[nodiscard]] double py() const { return n + 2.25; }
  [[nodiscard]] double pz() const { return n + 3.125; }

  /// The attraction of the line of points with these two coordinates.
  [[nodiscard]] force line(int x, int y) const {
    force sum;
    const double dx = x - px(), dy = y - py(), across = dx * dx + dy * dy;
    for (int z = -n; z <= n; ++z) {
      const double dz = z - pz();
      const double inverse = 1 / (across + dz * dz);
      const double cubed = inverse * std::sqrt(inverse);
      sum.x += cubed, sum.z += dz * cubed;
    }
    sum.y = sum.x * dy, sum.x *= dx;
    return sum;
  }
};

inline std::string as_text(const force& f) {
  return six_digits(f.x) + " " + six_digits(f.y) + " " + six_digits(f.z);
}

}  // namespace kernels
