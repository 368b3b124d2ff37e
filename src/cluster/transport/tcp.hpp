// SPDX-License-Identifier: Apache-2.0
// Nodes joined by TCP: few ones each with each other one, many ones as they need it. All of it runs on the
// thread that waits, asleep in epoll (Boost.Asio); send() and ring() wake it.
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
  identity own;       ///< without its port; its number of nodes contains the room
  unsigned room = 0;  ///< how many nodes may join while the others run: they have the last numbers
  /// Up to so many nodes, with the room, are all connected from the start; the same at all nodes.
  unsigned most_meshed = cluster::most_meshed;
  std::string token;  ///< empty: none; then only addresses of the loopback device are used
  std::string host;   ///< node 0's, for the others; for node 0 the address where it listens
  std::uint16_t port = 0;  ///< node 0's
  /// Where the others reach each node, without its port; empty: where node 0 sees that it comes from. With
  /// it nodes listen on all of their addresses, unless the own one is of the loopback device.
  std::vector<std::string> addresses;
  /// Where another node than 0 listens: on the first of these ports that is free; nothing: on any free one.
  std::optional<port_range> ports;
  heartbeat_settings heartbeat;
  /// How long a node that finds another one silent waits before it loses that node, so that others get its
  /// report.
  std::chrono::milliseconds warning_time{100};
  /// The time that a connection has to prove that it knows the token.
  std::chrono::milliseconds proving_time{2000};
  /// How many connections without that proof are kept, besides one for each node: of more the oldest ones
  /// are closed.
  std::size_t most_unproved = 64;
  /// Of a node that joins: the node at `host` and `port`, which has given it its number (tcp_place.hpp).
  std::optional<node_id> sponsor;
  int listening = -1;  ///< node 0: a socket that listens already, which is taken over; -1: none
  /// The others continue without nodes that are lost or do not arrive, and report losses to their own
  /// receivers only. A living node that others have lost loses them, too.
  bool survives_losses = false;
  /// With the former: a descriptor of a file with one byte for each node, not 0: it has ended, and is not
  /// waited for; -1: none.
  int ended_nodes = -1;
  /// A descriptor of an eventfd, which stays the caller's: this node is asked to leave once it counts more
  /// than 0; -1: none.
  int leave_requests = -1;
};

/// \throws start_failure by start(): another program, another token, a node that does not come
std::unique_ptr<transport> make_tcp_transport(tcp_settings chosen);

}  // namespace sukima::cluster
