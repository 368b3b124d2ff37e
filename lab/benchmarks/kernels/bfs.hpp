// SPDX-License-Identifier: Apache-2.0
// Breadth-first search, level by level (the Problem Based Benchmark Suite): the distance of each vertex.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/harness.hpp"
#include "kernels/spantree.hpp"

namespace kernels {

inline constexpr std::size_t bfs_piece = 1024;  // vertices of a level that are expanded without forking

/// The search between two levels. A level is a list of lists, so that pieces need not coordinate their places
/// in it.
class bfs_problem {
 public:
  explicit bfs_problem(std::size_t n) : graph_(n), distance_(n, no_vertex) {}

  /// Begins at vertex 0.
  void begin() {
    distance_[0] = 0;
    level_ = {0};
    depth_ = 0;
    divide();
  }
  [[nodiscard]] bool is_over() const { return level_.empty(); }
  [[nodiscard]] int pieces() const { return static_cast<int>(next_.size()); }

  /// Expands a piece of the level: finds the vertices of the next level.
  void expand(int piece) {
    const std::size_t from = static_cast<std::size_t>(piece) * bfs_piece;
    const std::size_t to = std::min(from + bfs_piece, level_.size());
    std::vector<vertex>& found = next_[static_cast<std::size_t>(piece)];
    for (std::size_t i = from; i < to; ++i)
      for (const vertex u : graph_.neighbours(level_[i])) {
        // Relaxed: all threads that claim a vertex in this level write the same value.
        std::atomic_ref<vertex> entry(distance_[u]);
        vertex none = no_vertex;
        if (entry.load(std::memory_order_relaxed) == no_vertex &&
            entry.compare_exchange_strong(none, depth_ + 1, std::memory_order_relaxed))
          found.push_back(u);
      }
  }

  /// Computes where each piece's vertices go in the next level. Then place() is called for each piece, then
  /// finish_level().
  void lay_out() {
    std::size_t sum = 0;
    for (std::size_t p = 0; p < next_.size(); ++p) {
      place_[p] = sum;
      sum += next_[p].size();
    }
    other_.resize(sum);
  }
  void place(int piece) {
    const auto p = static_cast<std::size_t>(piece);
    std::copy(next_[p].begin(), next_[p].end(), other_.begin() + static_cast<std::ptrdiff_t>(place_[p]));
    next_[p].clear();
  }
  void finish_level() {
    std::swap(level_, other_);
    ++depth_;
    divide();
  }

  /// Runs the whole search with one queue.
  void search_plainly() {
    std::vector<vertex> queue(graph_.vertices());
    distance_[0] = 0;
    queue[0] = 0;
    for (std::size_t from = 0, to = 1; from != to; ++from) {
      const vertex v = queue[from];
      for (const vertex u : graph_.neighbours(v))
        if (distance_[u] == no_vertex) {
          distance_[u] = distance_[v] + 1;
          queue[to++] = u;
        }
    }
  }

  /// Returns the sum of all distances. \throws bench::wrong_result if a distance is impossible
  [[nodiscard]] std::string result() const {
    std::uint64_t sum = 0;
    for (vertex v = 0; v < graph_.vertices(); ++v) {
      if (distance_[v] == no_vertex) throw bench::wrong_result("a vertex was not reached");
      for (const vertex u : graph_.neighbours(v))
        if (distance_[u] > distance_[v] + 1)
          throw bench::wrong_result("a vertex is nearer than its distance says");
      sum += distance_[v];
    }
    return std::to_string(sum);
  }

 private:
  void divide() {
    const std::size_t count = (level_.size() + bfs_piece - 1) / bfs_piece;
    next_.resize(count);
    place_.resize(count);
  }

  graph graph_;
  std::vector<vertex> distance_, level_, other_;
  std::vector<std::vector<vertex>> next_;  ///< the vertices that each piece has found
  std::vector<std::size_t> place_;
  vertex depth_ = 0;
};

}  // namespace kernels
