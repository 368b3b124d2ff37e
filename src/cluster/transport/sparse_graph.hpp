// SPDX-License-Identifier: Apache-2.0
// Determines which nodes are connected if there are many. Decisions only.
//
// Up to most_meshed nodes, each node has a connection to each other one. If there are more, each is connected
// to node 0 and to its neighbours in the ring of nodes from the start. It connects to other nodes when it has
// a message for them (calls.hpp). To keep the connections few, nodes steal from their partners only: node 0,
// where each entry begins, and nodes whose distance in the ring is a power of two. A node other than 0 has at
// most 2 ⌈log2(nodes)⌉ + 1 partners. Source of the distances: Stoica et al., "Chord: a scalable peer-to-peer
// lookup service for internet applications", SIGCOMM 2001.
#pragma once

#include "transport/transport.hpp"

#include <bit>

namespace sukima::cluster {

/// Largest number of nodes, including places for nodes that join, at which all nodes are connected to each
/// other.
inline constexpr unsigned most_meshed = 32;
/// Number of neighbours of a node on each side in the ring.
inline constexpr node_id neighbours_on_a_side = 2;

/// Distance from one node to another one in the ring. \pre both are below `nodes`
constexpr node_id distance(node_id from, node_id to, unsigned nodes) noexcept {
  return (to + nodes - from) % nodes;
}

/// Whether two nodes are neighbours in the ring while all nodes are alive.
constexpr bool are_neighbours(node_id a, node_id b, unsigned nodes) noexcept {
  return distance(a, b, nodes) <= neighbours_on_a_side || distance(b, a, nodes) <= neighbours_on_a_side;
}

/// Whether two nodes of a sparse transport request tasks from each other.
constexpr bool ask_each_other(node_id a, node_id b, unsigned nodes) noexcept {
  return a == 0 || b == 0 || std::has_single_bit(distance(a, b, nodes)) ||
         std::has_single_bit(distance(b, a, nodes));
}

/// Calls look(node, its distance) for the nodes on both sides of `self`, the nearest first, until look has
/// returned true for neighbours_on_a_side nodes on each side. look returns whether that node is in the run.
template <class Look> void visit_neighbours(node_id self, unsigned nodes, Look look) {
  const auto visit_side = [&](node_id step, node_id farthest) {
    node_id found = 0;
    for (node_id far = 1; far <= farthest && found < neighbours_on_a_side; ++far)
      if (look((self + far * step) % nodes, far)) ++found;
  };
  visit_side(1, nodes / 2);
  visit_side(nodes - 1, (nodes - 1) / 2);
}

}  // namespace sukima::cluster
