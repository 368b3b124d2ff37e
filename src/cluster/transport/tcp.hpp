// SPDX-License-Identifier: Apache-2.0
// Nodes joined by TCP, each with each other one. All of it runs on the thread that waits, asleep in epoll
// (Boost.Asio); send() and ring() wake it.
#pragma once

#include "protocol/handshake.hpp"
#include "transport/transport.hpp"

#include <memory>
#include <string>

namespace sukima::cluster {

struct tcp_settings {
  identity own;       ///< without its port
  std::string token;  ///< empty: none; then only addresses of the loopback device are used
  std::string host;   ///< node 0's, for the others; for node 0 the address where it listens
  std::uint16_t port = 0;  ///< node 0's
  std::chrono::milliseconds heartbeat{500};  ///< between two of them
  unsigned silent_beats = 10;  ///< of this node's own, without a word of another one: that is lost. 0: never
  int listening = -1;  ///< node 0: a socket that listens already, which is taken over; -1: none
};

/// \throws start_failure by start(): another program, another token, a node that does not come
std::unique_ptr<transport> make_tcp_transport(tcp_settings chosen);

}  // namespace sukima::cluster
