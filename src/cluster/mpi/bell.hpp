// SPDX-License-Identifier: Apache-2.0
// The bell: MPI cannot sleep until a message arrives. So a datagram follows each message, and a node sleeps
// in poll(2) until a datagram arrives. It contains only the number of messages sent so far. If a datagram is
// lost, the node finds the message at its next regular probe. A forged datagram costs some probes.
#pragma once

#include "transport/transport.hpp"

#include <netinet/in.h>

#include <array>

namespace sukima::cluster {

/// The address of a node's bell. The nodes exchange it as plain bytes.
struct bell_address {
  std::uint64_t host = 0;  ///< equal for nodes that reach each other over the loopback device
  std::uint32_t address = 0;  ///< IPv4 address of the host, in network byte order
  std::uint16_t port = 0;  ///< in network byte order
};

class bell {
 public:
  using secret = std::array<std::byte, 16>;
  bell();
  ~bell();
  bell(const bell&) = delete;
  bell& operator=(const bell&) = delete;

  /// The address of this node's bell. Port 0: this node has no bell.
  bell_address here() const noexcept { return here_; }
  void meet(node_id self, std::vector<bell_address> all, const secret& known);
  /// Sends a bell to that node. \param sent  the number of messages sent to that node so far
  void ring(node_id to, std::uint64_t sent) const noexcept;
  /// Takes the bells that have arrived. \param counts by node: the largest number of messages that a bell
  /// announced
  void take(std::vector<std::uint64_t>& counts) const noexcept;
  int descriptor() const noexcept { return socket_; }

 private:
  struct datagram {
    secret known;
    std::uint32_t from;
    std::uint32_t unused;
    std::uint64_t sent;
  };
  int socket_ = -1;
  bell_address here_;
  node_id self_ = 0;
  std::vector<bell_address> all_;
  secret known_{};
};

}  // namespace sukima::cluster
