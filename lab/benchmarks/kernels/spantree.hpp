// SPDX-License-Identifier: Apache-2.0
// A spanning tree of a connected random graph: every vertex but the root gets a neighbour as its parent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "kernels/random.hpp"

namespace kernels {

using vertex = std::uint32_t;
inline constexpr vertex no_vertex = ~vertex{0};

/// If a searcher has more pending vertices than this, it gives half of them to another one.
inline constexpr std::size_t spantree_share = 256;

/// An undirected graph: each vertex has an edge to one earlier vertex, so that it is connected, and to three
/// others. The neighbours of v are neighbour[first[v]] … neighbour[first[v + 1] - 1].
class graph {
 public:
  explicit graph(std::size_t n) : first_(n + 1) {
    random_numbers random(6);
    constexpr std::size_t edges_each = 4;
    std::vector<vertex> to(n * edges_each);
    for (std::size_t v = 0; v < n; ++v)
      for (std::size_t e = 0; e < edges_each; ++e)
        to[v * edges_each + e] = random.below(e == 0 && v > 0 ? v : n);
    for (std::size_t v = 0; v < n; ++v)
      for (std::size_t e = 0; e < edges_each; ++e) ++first_[v], ++first_[to[v * edges_each + e]];
    std::exclusive_scan(first_.begin(), first_.end(), first_.begin(), std::uint32_t{0});
    neighbours_.resize(first_[n]);
    std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
    for (std::size_t v = 0; v < n; ++v)
      for (std::size_t e = 0; e < edges_each; ++e) {
        const vertex u = to[v * edges_each + e];
        neighbours_[next[v]++] = u;
        neighbours_[next[u]++] = static_cast<vertex>(v);
      }
  }

  [[nodiscard]] std::size_t vertices() const { return first_.size() - 1; }
  [[nodiscard]] std::span<const vertex> neighbours(vertex v) const {
    return {neighbours_.data() + first_[v], neighbours_.data() + first_[v + 1]};
  }

  /// The positions at which the neighbours of each vertex begin in the list of all, and the end of the list.
  [[nodiscard]] std::span<const std::uint32_t> first() const { return first_; }
  [[nodiscard]] std::span<const vertex> all_neighbours() const { return neighbours_; }

  /// Returns an empty text if `parent` is a spanning tree with root 0 (its own parent), otherwise the error.
  [[nodiscard]] std::string fault(std::span<const vertex> parent) const {
    if (parent[0] != 0) return "the root is not its own parent";
    std::vector<bool> reaches_root(vertices());
    reaches_root[0] = true;
    std::vector<vertex> path;
    for (vertex v = 0; v < vertices(); ++v) {
      path.clear();
      for (vertex u = v; !reaches_root[u]; u = parent[u]) {
        if (parent[u] == no_vertex) return "vertex " + std::to_string(u) + " has no parent";
        if (path.size() == vertices()) return "vertex " + std::to_string(v) + " is on a circle";
        bool adjacent = false;
        for (const vertex w : neighbours(u)) adjacent |= w == parent[u];
        if (!adjacent) return "the parent of vertex " + std::to_string(u) + " is not a neighbour of it";
        path.push_back(u);
      }
      for (const vertex u : path) reaches_root[u] = true;
    }
    return {};
  }

 private:
  std::vector<std::uint32_t> first_;
  std::vector<vertex> neighbours_;
};

}  // namespace kernels
