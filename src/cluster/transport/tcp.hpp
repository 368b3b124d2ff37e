// SPDX-License-Identifier: Apache-2.0
// Connects nodes by TCP: if they are few, each with each other one; if they are many, when needed. The whole
// transport runs on the thread that is in wait(), which sleeps in epoll (Boost.Asio). send() and ring() wake
// it.
#pragma once

#include "protocol/handshake.hpp"
#include "shared/ports.hpp"
#include "transport/heartbeats.hpp"
#include "transport/sparse_graph.hpp"
#include "transport/transport.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sukima::cluster {

inline constexpr unsigned most_nodes = 1024;

struct tcp_settings {
  identity own;       ///< without its port; its number of nodes includes the room
  unsigned room = 0;  ///< the number of nodes that may join during the run; they have the last numbers
  /// Up to this number of nodes, including the room, all are connected from the start. Equal on all nodes.
  unsigned most_meshed = cluster::most_meshed;
  std::string token;  ///< empty: no token; then only addresses of the loopback device are used
  std::string host;   ///< for node 0 the address where it listens; for the others the address of node 0
  std::uint16_t port = 0;  ///< the port of node 0
  /// The addresses where the others reach each node, without ports. Empty: node 0 uses the address from
  /// which the node connects. If set, nodes listen on all of their addresses, unless their own one is of
  /// the loopback device.
  std::vector<std::string> addresses;
  /// The ports where a node other than 0 listens: on the first free one. Nothing: any free port.
  std::optional<port_range> ports;
  heartbeat_settings heartbeat;
  /// How long a node that finds another one silent waits before it reports the loss to its receiver, so
  /// that its report reaches the other nodes.
  std::chrono::milliseconds warning_time{100};
  /// The time within which the other side of a connection must prove that it knows the token.
  std::chrono::milliseconds proving_time{2000};
  /// The number of connections without that proof that are kept, besides one for each node. If there are
  /// more, the oldest ones are closed.
  std::size_t most_unproved = 64;
  /// For a node that joins: the node at `host` and `port`, which gave this node its number
  /// (tcp_place.hpp).
  std::optional<node_id> sponsor;
  int listening = -1;  ///< for node 0: a listening socket, which the transport takes over; -1: none
  /// If true, the nodes continue without nodes that are lost or do not arrive, and report losses only to
  /// their own receivers. A living node that the others consider lost considers them lost, too.
  bool survives_losses = false;
  /// With survives_losses: the descriptor of a file with one byte for each node. A byte other than 0 says
  /// that the node has ended, so this node does not wait for it. -1: no file.
  int ended_nodes = -1;
  /// The descriptor of an eventfd that the caller owns. If its count becomes positive, this node is
  /// requested to leave. -1: none.
  int leave_requests = -1;
};

/// Makes the transport.
/// \throws start_failure by start(): another program, another token, or a node that does not arrive
std::unique_ptr<transport> make_tcp_transport(tcp_settings chosen);

}  // namespace sukima::cluster
