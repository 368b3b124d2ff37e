// SPDX-License-Identifier: Apache-2.0
// A minimum spanning forest of a random graph with weights (minSpanningForest of the Problem Based Benchmark
// Suite), by O. Borůvka's method of 1926: each component gets its lightest edge, until no edge remains. Heavy
// edges wait until the light ones are processed, because most of them are then within a component, as in the
// method of V. Osipov, P. Sanders and J. Singler (ALENEX 2009).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "harness/harness.hpp"
#include "kernels/random.hpp"

namespace kernels {

inline constexpr std::size_t forest_piece = 4096;  // edges that are looked at without forking

/// Vertices in trees: each vertex has a parent, and a root is its own parent.
class disjoint_trees {
 public:
  explicit disjoint_trees(std::size_t n) : parent_(n) {
    for (std::size_t i = 0; i < n; ++i) parent_[i] = static_cast<std::uint32_t>(i);
  }
  /// Returns the root of v's tree. Shortens the path. Other threads may do so, too. Relaxed: each parent that
  /// they read leads to the same root. no partner: the parents are all that they exchange
  std::uint32_t root(std::uint32_t v) {
    for (;;) {
      std::atomic_ref<std::uint32_t> entry(parent_[v]);
      const std::uint32_t up = entry.load(std::memory_order_relaxed);
      if (up == v) return v;
      const std::uint32_t next = std::atomic_ref(parent_[up]).load(std::memory_order_relaxed);
      if (next == up) return up;
      entry.store(next, std::memory_order_relaxed);
      v = next;
    }
  }
  /// \pre v is a root, and the trees are only used by other calls of hang for other roots
  void hang(std::uint32_t v, std::uint32_t below) { parent_[v] = below; }

 private:
  std::vector<std::uint32_t> parent_;
};

class forest_problem {
 public:
  explicit forest_problem(std::size_t n) : trees_(n), vertices_(n), lightest_(n, no_key), edges_(n * 4) {
    random_numbers random(15);
    for (std::size_t i = 0; i < edges_.size(); ++i) {
      const auto weight = static_cast<std::uint64_t>(random.below(std::uint64_t{1} << 32));
      edges_[i] = {(weight << 32) + i, random.below(n), random.below(n)};
    }
    pieces_.resize((edges_.size() + forest_piece - 1) / forest_piece);
    for (std::size_t p = 0; p < pieces_.size(); ++p)
      pieces_[p].edges = std::min(forest_piece, edges_.size() - p * forest_piece);
    pivot_ = quantile_of_sample(light_edges * static_cast<double>(n) / static_cast<double>(edges_.size()));
  }

  [[nodiscard]] int pieces() const { return static_cast<int>(pieces_.size()); }

  // The order of calls: first divide for all pieces. Then rounds: join for all pieces, find_lightest for all,
  // hang for all. When join has left no edge, add_heavy adds the edges that a forest seldom needs.

  /// Puts the light edges of a piece before the other ones, which wait.
  void divide(int which) {
    piece& p = pieces_[static_cast<std::size_t>(which)];
    edge* const all = edges_of(which);
    edge* const heavy = std::partition(all, all + p.edges, [this](const edge& e) { return e.key < pivot_; });
    p.heavy_first = static_cast<std::size_t>(heavy - all);
    p.heavy = p.edges - p.heavy_first;
    p.edges = p.heavy_first;
  }
  /// Adds the heavy edges. \returns false if there are none any more
  bool add_heavy() {
    bool some = false;
    for (piece& p : pieces_) {
      p.first = p.heavy_first;
      p.edges = std::exchange(p.heavy, 0);
      some |= p.edges != 0;
    }
    return some;
  }
  /// Removes edges within a component.
  void join(int which) {
    piece& p = pieces_[static_cast<std::size_t>(which)];
    edge* const all = edges_of(which);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < p.edges; ++i) {
      const edge e{all[i].key, trees_.root(all[i].a), trees_.root(all[i].b)};
      if (e.a == e.b) continue;
      all[kept++] = e;
      // Relaxed: other threads write the same value here, and the end of the loop orders this before
      // find_lightest.
      key_of(e.a).store(no_key, std::memory_order_relaxed);
      key_of(e.b).store(no_key, std::memory_order_relaxed);
    }
    p.edges = kept;
  }
  [[nodiscard]] bool edges_are_left() const {
    return std::any_of(pieces_.begin(), pieces_.end(), [](const piece& p) { return p.edges != 0; });
  }
  /// Offers each edge to its two components.
  void find_lightest(int which) {
    for_edges(which, [this](const edge& e) { offer(e.a, e.key), offer(e.b, e.key); });
  }
  /// Does the same while no other thread runs.
  void find_lightest_alone(int which) {
    for_edges(which, [this](const edge& e) {
      lightest_[e.a] = std::min(lightest_[e.a], e.key);
      lightest_[e.b] = std::min(lightest_[e.b], e.key);
    });
  }
  /// Takes the edges that are the lightest ones of a component. If two components have the same lightest
  /// edge, the component with the greater number becomes a child of the other one.
  void hang(int which) {
    piece& p = pieces_[static_cast<std::size_t>(which)];
    for_edges(which, [this, &p](const edge& e) {
      const bool of_a = lightest_[e.a] == e.key, of_b = lightest_[e.b] == e.key;
      if (!of_a && !of_b) return;
      p.take(e);
      if (of_a && !(of_b && e.a < e.b))
        trees_.hang(e.a, e.b);
      else
        trees_.hang(e.b, e.a);
    });
  }

  /// Returns the number of edges and their weight. \throws bench::wrong_result unless the number of edges is
  /// the number of vertices minus the number of trees
  [[nodiscard]] std::string result() {
    std::uint64_t taken = 0, weight = 0, roots = 0;
    for (const piece& p : pieces_) taken += p.taken, weight += p.weight;
    for (std::uint32_t v = 0; v < vertices_; ++v) roots += trees_.root(v) == v;
    if (taken + roots != vertices_) throw bench::wrong_result("the edges are not a forest");
    return std::to_string(taken) + " " + std::to_string(weight);
  }

 private:
  static constexpr std::uint64_t no_key = ~std::uint64_t{0};
  static constexpr double light_edges = 1.25;  // for each vertex

  struct edge {
    std::uint64_t key;  ///< the weight, and below it the edge's number, so that no two are equal
    std::uint32_t a, b;
  };
  struct piece {
    std::size_t first = 0, edges = 0;  ///< edges that take part
    std::size_t heavy_first = 0, heavy = 0;  ///< edges that wait
    std::uint64_t taken = 0, weight = 0;
    void take(const edge& e) { ++taken, weight += e.key >> 32; }
  };

  edge* edges_of(int which) {
    const auto w = static_cast<std::size_t>(which);
    return edges_.data() + w * forest_piece + pieces_[w].first;
  }
  template <class F>
  void for_edges(int which, F f) {
    const std::size_t count = pieces_[static_cast<std::size_t>(which)].edges;
    for (const edge* e = edges_of(which); e != edges_of(which) + count; ++e) f(*e);
  }

  std::atomic_ref<std::uint64_t> key_of(std::uint32_t v) { return std::atomic_ref(lightest_[v]); }
  // Relaxed: the minimum is all that the threads exchange, and the end of the loop orders it before hang.
  void offer(std::uint32_t v, std::uint64_t key) {
    std::uint64_t least = key_of(v).load(std::memory_order_relaxed);
    while (key < least && !key_of(v).compare_exchange_weak(least, key, std::memory_order_relaxed)) {
    }
  }

  /// Returns the key that is above about this part of the edges' keys.
  [[nodiscard]] std::uint64_t quantile_of_sample(double part) const {
    constexpr std::size_t sampled = 1000;
    std::vector<std::uint64_t> keys;
    for (std::size_t i = 0; i < edges_.size(); i += edges_.size() / sampled + 1)
      keys.push_back(edges_[i].key);
    const auto place = keys.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(keys.size()));
    std::nth_element(keys.begin(), place, keys.end());
    return *place;
  }

  disjoint_trees trees_;
  std::size_t vertices_;
  std::vector<std::uint64_t> lightest_;  ///< each root's lightest edge
  std::vector<edge> edges_;
  std::vector<piece> pieces_;
  std::uint64_t pivot_ = 0;  ///< heavy edges are not below it
};

}  // namespace kernels
