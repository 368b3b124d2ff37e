// SPDX-License-Identifier: Apache-2.0
// Barnes and Hut's method for the motion of n bodies. Each step builds an octree again, and cells that are
// far away attract like one body. The bodies are a Plummer sphere (Aarseth, Hénon, Wielen 1974) from a fixed
// seed.
//
// A body's acceleration depends only on the tree, and the tree only on the positions. So every program
// computes the same motion, bit for bit, regardless of how its parts are distributed.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/random.hpp"
#include "kernels/vector3.hpp"

namespace kernels {

/// Totals of one step over all bodies.
struct nbody_sum {
  double energy = 0;  ///< kinetic and potential
  double reach = 0;  ///< the greatest absolute value of a coordinate after the step
  nbody_sum& operator+=(const nbody_sum& other) {
    energy += other.energy;
    reach = std::max(reach, other.reach);
    return *this;
  }
  friend nbody_sum operator+(nbody_sum a, const nbody_sum& b) { return a += b; }
};

/// The bodies and their tree. A step consists of these calls: `set_keys` for each block of bodies. Then, from
/// `root()` on, `divide` for each cell; after it `set_leaf`, or the same calls for the cell's octants and
/// then `finish` (`grow` does all of this). Then `move_block` for each block. Finally `end_step` with the sum
/// of the results.
class nbody_problem {
 public:
  static constexpr int steps = 4;
  /// Number of bodies that one call of `set_keys` or `move_block` processes.
  static constexpr std::size_t block_bodies = 32;
  /// Cells with at most this many bodies are not worth sharing.
  static constexpr std::uint32_t grow_bodies = 1024;

  /// A cell's bodies, [first, last) in one of the two lists, and its place in the tree.
  struct cell {
    std::uint32_t first = 0, last = 0;
    std::uint32_t node = 0;
    int level = 0;  ///< level of its octants; -1: a point that cannot be divided
    int list = 0;
    [[nodiscard]] std::uint32_t bodies() const { return last - first; }
  };
  /// The octants of a cell that contain bodies: none if the cell is a leaf, otherwise at least two.
  struct octants {
    int count = 0;
    std::array<cell, 8> part;
  };

  explicit nbody_problem(std::size_t n)
      : bodies_(n),
        place_(n),
        body_at_(n),
        nodes_(2 * n),
        lists_{std::vector<entry>(n), std::vector<entry>(n)} {
    random_numbers random(42);
    for (body& b : bodies_) {
      b = plummer_body(random);
      reach_ = std::max(reach_, b.position.reach());
    }
  }

  [[nodiscard]] int blocks() const {
    return static_cast<int>((bodies_.size() + block_bodies - 1) / block_bodies);
  }

  /// Finds the places of a block of bodies in the order along the tree's leaves.
  void set_keys(int block) {
    const double scale = key_edge / (2 * reach_);
    for (std::size_t i = from(block); i < to(block); ++i) {
      const vector3& p = bodies_[i].position;
      const auto key = spread((p.x + reach_) * scale) << 2 | spread((p.y + reach_) * scale) << 1 |
                       spread((p.z + reach_) * scale);
      lists_[0][i] = {key, static_cast<std::uint32_t>(i)};
    }
  }

  /// Returns the root cell and discards the previous step's tree. Must be called after all keys are set.
  cell root() {
    used_.store(1, std::memory_order_relaxed);
    return {0, static_cast<std::uint32_t>(bodies_.size()), 0, levels - 1, 0};
  }

  /// Sorts a cell's bodies by octants. A cell whose bodies are all in one octant is replaced by that octant.
  octants divide(cell c) {
    octants o;
    std::array<std::uint32_t, 8> count{};
    for (; c.bodies() > leaf_bodies && c.level >= 0; --c.level) {
      count = {};
      for (std::uint32_t i = c.first; i < c.last; ++i) ++count[octant(lists_[from_list(c)][i], c.level)];
      if (*std::max_element(count.begin(), count.end()) < c.bodies()) break;
    }
    const double edge = std::ldexp(2 * reach_, c.level + 1 - levels) / opening_angle;
    nodes_[c.node].opening = edge * edge;
    if (c.bodies() <= leaf_bodies || c.level < 0) return o;

    std::array<std::uint32_t, 8> next{};
    std::uint32_t first = c.first;
    for (std::size_t i = 0; i < 8; ++i) {
      next[i] = first;
      if (count[i] == 0) continue;
      o.part[static_cast<std::size_t>(o.count++)] = {first, first + count[i], 0, c.level - 1, 1 - c.list};
      first += count[i];
    }
    for (std::uint32_t i = c.first; i < c.last; ++i) {
      const entry& e = lists_[from_list(c)][i];
      lists_[1 - from_list(c)][next[octant(e, c.level)]++] = e;
    }
    const auto children = static_cast<std::uint32_t>(o.count);
    const std::uint32_t child = used_.fetch_add(children, std::memory_order_relaxed);
    for (std::uint32_t i = 0; i < children; ++i) o.part[i].node = child + i;
    nodes_[c.node].first = child;
    nodes_[c.node].count = children;
    nodes_[c.node].leaf = false;
    return o;
  }

  /// Fills a cell that `divide` found to be a leaf.
  void set_leaf(const cell& c) {
    node& n = nodes_[c.node];
    n.first = c.first, n.count = c.bodies(), n.leaf = true;
    n.mass = {};
    for (std::uint32_t i = c.first; i < c.last; ++i) {
      body_at_[i] = lists_[from_list(c)][i].body;
      const body& b = bodies_[body_at_[i]];
      place_[i] = {b.position, b.mass};
      n.mass += place_[i];
    }
    n.mass.to_centre();
  }

  /// Sums up a cell whose octants are complete.
  void finish(const cell& c) {
    node& n = nodes_[c.node];
    n.mass = {};
    for (std::uint32_t i = n.first; i < n.first + n.count; ++i) n.mass += nodes_[i].mass;
    n.mass.to_centre();
  }

  /// Builds the whole tree below a cell, one octant after the other.
  void grow(const cell& c) {
    const octants o = divide(c);
    if (o.count == 0) return set_leaf(c);
    for (int i = 0; i < o.count; ++i) grow(o.part[static_cast<std::size_t>(i)]);
    finish(c);
  }

  /// Moves a block of bodies, in the order along the leaves of the tree.
  nbody_sum move_block(int block) {
    nbody_sum sum;
    for (std::size_t i = from(block); i < to(block); ++i) {
      body& b = bodies_[body_at_[i]];
      const pull p = attraction(place_[i].at);
      const vector3 now = b.velocity + (step_time / 2) * p.acceleration;
      const double potential = p.potential + b.mass / softening;  // without its own potential
      sum.energy += b.mass * (now.square() + potential) / 2;
      b.velocity += step_time * p.acceleration;
      b.position += step_time * b.velocity;
      sum.reach = std::max(sum.reach, b.position.reach());
    }
    return sum;
  }

  void end_step(const nbody_sum& sum) {
    if (first_energy_ == 0) first_energy_ = sum.energy;
    energy_ = sum.energy;
    reach_ = sum.reach;
  }

  /// Returns the energy in the last step, about -1/4.
  [[nodiscard]] double energy() const { return energy_; }
  /// Returns whether the energy is still that of the first step, up to the error of the method.
  [[nodiscard]] bool conserved() const {
    return std::fabs(energy_ - first_energy_) <= 1e-3 * std::fabs(first_energy_);
  }

 private:
  static constexpr int levels = 21;  // of octants: 63 bits of keys
  static constexpr double key_edge = 0x1.fffffp20;  // just below 2²¹, so that the cube's faces are inside
  static constexpr std::uint32_t leaf_bodies = 8;
  static constexpr double opening_angle = 0.5;  // below 3^-½, so that no body meets its own cell
  static constexpr double softening = 0.01;
  static constexpr double step_time = 1.0 / 256;

  struct body {
    vector3 position, velocity;
    double mass = 0;
  };
  struct entry {
    std::uint64_t key;
    std::uint32_t body;
  };
  struct point_mass {
    vector3 at;  // multiplied by the mass while masses are added up
    double mass = 0;
    point_mass& operator+=(const point_mass& other) {
      at += other.mass * other.at, mass += other.mass;
      return *this;
    }
    void to_centre() { at = (1 / mass) * at; }
  };
  struct node {
    point_mass mass;
    double opening;  // square of the distance below which its parts are used
    std::uint32_t first, count;  // bodies of a leaf, otherwise nodes
    bool leaf;
  };
  struct pull {
    vector3 acceleration;
    double potential = 0;
    void add(const vector3& away, double distance_squared, double mass) {
      const double inverse = 1 / (distance_squared + softening * softening);
      const double part = mass * std::sqrt(inverse);
      potential -= part;
      acceleration += part * inverse * away;
    }
  };

  [[nodiscard]] static std::size_t from(int block) { return static_cast<std::size_t>(block) * block_bodies; }
  [[nodiscard]] std::size_t to(int block) const {
    return std::min(from(block) + block_bodies, bodies_.size());
  }
  [[nodiscard]] static std::size_t from_list(const cell& c) { return static_cast<std::size_t>(c.list); }
  [[nodiscard]] static std::size_t octant(const entry& e, int level) { return e.key >> (3 * level) & 7; }

  // Spreads the bits of a coordinate, with two zeros between them.
  [[nodiscard]] static std::uint64_t spread(double coordinate) {
    auto x = static_cast<std::uint64_t>(coordinate);
    x = (x | x << 32) & 0x001f'0000'0000'ffffU;
    x = (x | x << 16) & 0x001f'0000'ff00'00ffU;
    x = (x | x << 8) & 0x100f'00f0'0f00'f00fU;
    x = (x | x << 4) & 0x10c3'0c30'c30c'30c3U;
    return (x | x << 2) & 0x1249'2492'4924'9249U;
  }

  [[nodiscard]] pull attraction(const vector3& at) const {
    pull p;
    std::array<std::uint32_t, 7 * levels + 8> pending;
    std::size_t count = 0;
    pending[count++] = 0;
    while (count > 0) {
      const node& n = nodes_[pending[--count]];
      const vector3 away = n.mass.at - at;
      const double distance = away.square();
      if (distance > n.opening) {
        p.add(away, distance, n.mass.mass);
      } else if (n.leaf) {
        for (std::uint32_t i = n.first; i < n.first + n.count; ++i) {
          const vector3 to_body = place_[i].at - at;
          p.add(to_body, to_body.square(), place_[i].mass);
        }
      } else {
        for (std::uint32_t i = n.first; i < n.first + n.count; ++i) pending[count++] = i;
      }
    }
    return p;
  }

  [[nodiscard]] body plummer_body(random_numbers& random) const {
    constexpr double scale = 3 * 3.14159265358979323846 / 16;  // radii, for an energy of -1/4
    body b;
    b.mass = 1 / static_cast<double>(bodies_.size());
    double radius = 0;
    do radius = 1 / std::sqrt(std::pow(random.real(), -2.0 / 3) - 1);
    while (!(radius < 10));  // draws the farthest one in a hundred again
    b.position = scale * radius * direction(random);
    double share = 0, height = 0;
    do share = random.real(), height = random.real() / 10;
    while (height > share * share * std::pow(1 - share * share, 3.5));
    const double escape = std::sqrt(2.0) * std::pow(1 + radius * radius, -0.25);
    b.velocity = share * escape / std::sqrt(scale) * direction(random);
    return b;
  }
  [[nodiscard]] static vector3 direction(random_numbers& random) {
    for (;;) {
      const double x = 2 * random.real() - 1, y = 2 * random.real() - 1, z = 2 * random.real() - 1;
      const vector3 v{x, y, z};
      if (const double square = v.square(); square > 0.01 && square < 1) return (1 / std::sqrt(square)) * v;
    }
  }

  std::vector<body> bodies_;
  std::vector<point_mass> place_;  // the bodies along the leaves of the tree,
  std::vector<std::uint32_t> body_at_;  // and their numbers
  std::vector<node> nodes_;  // fewer than two for each body: inner ones have two octants or more
  std::atomic<std::uint32_t> used_{0};
  std::array<std::vector<entry>, 2> lists_;  // by octants: from one to the other, and back one level deeper
  double reach_ = 0;  // the cube has the coordinates -reach … reach
  double energy_ = 0, first_energy_ = 0;
};

}  // namespace kernels
