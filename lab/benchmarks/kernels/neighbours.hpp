// SPDX-License-Identifier: Apache-2.0
// The nearest other point of each of n random points in space (nearestNeighbors of the Problem Based
// Benchmark Suite), by a k-d tree (J. Bentley, 1975) that consists only of an order of the points.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "kernels/random.hpp"

namespace kernels {

inline constexpr std::size_t neighbours_leaf = 8;        // points that have no order
inline constexpr std::size_t neighbours_grain = 1024;    // points that are put in order without forking

/// The points [first, last) are a tree: the middle one divides the others by one coordinate.
class neighbours_problem {
 public:
  explicit neighbours_problem(std::size_t n) : points_(n), nearest_(n) {
    random_numbers random(16);
    for (std::size_t i = 0; i < n; ++i)
      points_[i] = {{random.real(), random.real(), random.real()}, static_cast<std::uint32_t>(i)};
  }

  [[nodiscard]] std::size_t points() const { return points_.size(); }

  static std::size_t middle(std::size_t first, std::size_t last) { return first + (last - first) / 2; }

  /// Puts the middle point in its place, and the others before or after it.
  /// \param select  select(first, nth, last, less) does so, as std::nth_element does
  void divide(std::size_t first, std::size_t last, unsigned axis, const auto& select) {
    const auto at = [this](std::size_t i) { return points_.begin() + static_cast<std::ptrdiff_t>(i); };
    select(at(first), at(middle(first, last)), at(last),
           [axis](const point& a, const point& b) { return a.x[axis] < b.x[axis]; });
  }

  /// Makes a tree of the points.
  void order(std::size_t first, std::size_t last, unsigned axis, const auto& select) {
    if (last - first <= neighbours_leaf) return;
    divide(first, last, axis, select);
    const std::size_t m = middle(first, last);
    order(first, m, next(axis), select);
    order(m + 1, last, next(axis), select);
  }

  static unsigned next(unsigned axis) { return axis == 2 ? 0 : axis + 1; }

  /// Finds the nearest point of the i-th one. Neighbours in that order have similar paths through the tree.
  void find(int i) {
    const point& from = points_[static_cast<std::size_t>(i)];
    candidate nearest{std::numeric_limits<double>::infinity(), from.number};
    find_in(from, 0, points_.size(), 0, nearest);
    nearest_[from.number] = nearest.number;
  }

  /// Returns a text that depends on each point's neighbour.
  [[nodiscard]] std::string result() const {
    std::uint64_t hash = 0;
    for (const std::uint32_t number : nearest_) hash = hash * 31 + number;
    return std::to_string(hash);
  }

 private:
  struct point {
    std::array<double, 3> x;
    std::uint32_t number;
  };
  struct candidate {
    double squared_distance;
    std::uint32_t number;
  };

  static void consider(const point& from, const point& other, candidate& nearest) {
    const double x = other.x[0] - from.x[0], y = other.x[1] - from.x[1], z = other.x[2] - from.x[2];
    const double squared = x * x + y * y + z * z;
    if (squared < nearest.squared_distance && other.number != from.number) nearest = {squared, other.number};
  }

  void find_in(const point& from, std::size_t first, std::size_t last, unsigned axis,
               candidate& nearest) const {
    if (last - first <= neighbours_leaf) {
      for (; first < last; ++first) consider(from, points_[first], nearest);
      return;
    }
    const std::size_t m = middle(first, last);
    const double beyond = from.x[axis] - points_[m].x[axis];
    consider(from, points_[m], nearest);
    if (beyond < 0)
      find_in(from, first, m, next(axis), nearest);
    else
      find_in(from, m + 1, last, next(axis), nearest);
    if (beyond * beyond >= nearest.squared_distance) return;
    if (beyond < 0)
      find_in(from, m + 1, last, next(axis), nearest);
    else
      find_in(from, first, m, next(axis), nearest);
  }

  std::vector<point> points_;
  std::vector<std::uint32_t> nearest_;
};

}  // namespace kernels
