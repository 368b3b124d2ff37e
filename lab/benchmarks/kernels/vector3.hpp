// SPDX-License-Identifier: Apache-2.0
// Vectors in space.
#pragma once

#include <algorithm>
#include <cmath>

namespace kernels {

struct vector3 {
  double x = 0, y = 0, z = 0;
  vector3& operator+=(const vector3& v) {
    x += v.x, y += v.y, z += v.z;
    return *this;
  }
  friend vector3 operator+(vector3 a, const vector3& b) { return a += b; }
  friend vector3 operator-(const vector3& a, const vector3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
  friend vector3 operator*(double f, const vector3& v) { return {f * v.x, f * v.y, f * v.z}; }
  /// The square of its length.
  [[nodiscard]] double square() const { return x * x + y * y + z * z; }
  /// Its greatest coordinate by absolute value.
  [[nodiscard]] double reach() const { return std::max({std::fabs(x), std::fabs(y), std::fabs(z)}); }
};

}  // namespace kernels
