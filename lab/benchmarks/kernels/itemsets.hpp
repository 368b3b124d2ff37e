// SPDX-License-Identifier: Apache-2.0
// Closed connected subgraphs with common items. The vertices of a graph carry sets of items. The search finds
// the connected sets of vertices that have at least `least_common` items in common and cannot be extended by
// a neighbour without losing one of these items.
//
// The search visits each subgraph once, without a table of those already found. Below a closed subgraph it
// takes one neighbour after the other, and closes the subgraph with it: it adds all connected vertices that
// have the remaining common items. It then continues without the neighbours tried before. If the closing
// needs one of these, the branch is cut, because it was visited there (M. Boley, T. Horváth, A. Poigné, S.
// Wrobel: Listing closed sets of strongly accessible set systems, Theoretical Computer Science 411(3), 2010).
// A branch is cut before it is entered, so the search never abandons a branch that it has begun.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/random.hpp"

namespace kernels {

/// A graph whose vertices carry sets of up to 64 items.
struct item_graph {
  using vertex = std::int32_t;

  int least_common = 22;  ///< items that the vertices of a wanted subgraph share

  std::vector<std::vector<vertex>> neighbours;
  std::vector<std::uint64_t> items;

  /// Each vertex from the second on is joined to up to four random earlier ones. It has the items of the
  /// first of them, but each item is drawn again with probability 1/8. So the items in a neighbourhood are
  /// similar, and common items exist. A drawn item is in the set with probability 1/2.
  explicit item_graph(int vertices)
      : neighbours(static_cast<std::size_t>(vertices)), items(neighbours.size()) {
    random_numbers random(20140701);
    items[0] = random.bits();
    for (std::size_t v = 1; v < items.size(); ++v) {
      const std::size_t first = random.below(v);
      join(v, first);
      for (int i = 0; i < 3; ++i) join(v, random.below(v));
      const std::uint64_t drawn = random.bits() & random.bits() & random.bits();
      items[v] = (items[first] & ~drawn) | (random.bits() & drawn);
    }
  }

 private:
  void join(std::size_t a, std::size_t b) {
    for (const vertex known : neighbours[a])
      if (static_cast<std::size_t>(known) == b) return;
    neighbours[a].push_back(static_cast<vertex>(b));
    neighbours[b].push_back(static_cast<vertex>(a));
  }
};

/// The number of closed subgraphs that were found, and a hash of them that does not depend on their order.
struct found_subgraphs {
  std::int64_t count = 0;
  std::uint64_t hash = 0;

  found_subgraphs& operator+=(const found_subgraphs& other) {
    count += other.count;
    hash += other.hash;
    return *this;
  }
  friend found_subgraphs operator+(found_subgraphs a, const found_subgraphs& b) { return a += b; }
  /// The benchmark's result.
  [[nodiscard]] std::string text() const { return std::to_string(count) + " " + std::to_string(hash); }
};

/// A closed subgraph that is changed in place: it grows by `add` and `exclude`, and shrinks again by their
/// opposites.
class growing_subgraph {
 public:
  using vertex = item_graph::vertex;

  /// Makes the empty subgraph of a graph, which must outlive it.
  explicit growing_subgraph(const item_graph& graph) : graph_(&graph), mark_(graph.items.size(), free) {}

  /// The size to which `shrink` returns.
  struct size_before {
    std::size_t members;
    std::uint64_t common;
  };
  [[nodiscard]] size_before size() const { return {members_.size(), common_}; }

  /// Returns the vertices by which the subgraph can grow while enough common items remain; all vertices if it
  /// is empty.
  [[nodiscard]] std::vector<vertex> candidates() {
    std::vector<vertex> found;
    const auto consider = [&](vertex v) {
      if (mark(v) != free || std::popcount(common_ & items(v)) < graph_->least_common) return;
      mark(v) = seen;
      found.push_back(v);
    };
    if (members_.empty())
      for (std::size_t v = 0; v < mark_.size(); ++v) consider(static_cast<vertex>(v));
    for (const vertex m : members_)
      for (const vertex v : neighbours(m)) consider(v);
    for (const vertex v : found) mark(v) = free;
    return found;
  }

  /// Adds a candidate and all vertices that the closing needs. If one of these is excluded, returns false and
  /// changes nothing.
  bool add(vertex added) {
    const size_before before = size();
    common_ &= items(added);
    mark(added) = member;
    members_.push_back(added);
    for (std::size_t i = 0; i < members_.size(); ++i)
      for (const vertex v : neighbours(members_[i])) {
        if (mark(v) == member || (common_ & ~items(v)) != 0) continue;
        if (mark(v) == excluded) {
          shrink(before);
          return false;
        }
        mark(v) = member;
        members_.push_back(v);
      }
    return true;
  }

  /// Removes the vertices that were added since `size` returned this value.
  void shrink(const size_before& before) {
    for (std::size_t i = before.members; i < members_.size(); ++i) mark(members_[i]) = free;
    members_.resize(before.members);
    common_ = before.common;
  }

  /// Excludes a candidate from the subgraphs to come, and allows it again.
  void exclude(vertex v) { mark(v) = excluded; }
  void allow(vertex v) { mark(v) = free; }

  /// Returns this subgraph as one that was found; nothing if it is empty.
  [[nodiscard]] found_subgraphs itself() const {
    if (members_.empty()) return {};
    std::uint64_t sum = 0;
    for (const vertex m : members_) sum += random_numbers(static_cast<std::uint64_t>(m)).bits();
    return {1, random_numbers(sum ^ common_).bits()};
  }

 private:
  enum state : std::uint8_t { free, member, excluded, seen };

  state& mark(vertex v) { return mark_[static_cast<std::size_t>(v)]; }
  [[nodiscard]] std::uint64_t items(vertex v) const { return graph_->items[static_cast<std::size_t>(v)]; }
  [[nodiscard]] const std::vector<vertex>& neighbours(vertex v) const {
    return graph_->neighbours[static_cast<std::size_t>(v)];
  }

  const item_graph* graph_;
  std::vector<state> mark_;
  std::vector<vertex> members_;
  std::uint64_t common_ = ~std::uint64_t{0};  // the members' common items
};

/// Sizes of `itemsets`.
inline constexpr int most_item_vertices = 20'000;

}  // namespace kernels
