// SPDX-License-Identifier: Apache-2.0
// The bell: MPI cannot sleep until a message arrives. So a datagram follows each message, and a node sleeps
// in poll(2) until one arrives. A bell holds only the number of messages. If one is lost, the node notices
// the message at its next regular probe; a forged one costs some probes.
#pragma once

#include "transport/transport.hpp"

#include <netinet/in.h>

#include <array>

namespace sukima::cluster {

/// Address of a node's bell, which the nodes exchange as plain bytes.
struct bell_address {
  std::uint64_t host = 0;  ///< the same for nodes that reach each other by the loopback device
  std::uint32_t address = 0;  ///< IPv4 of the host, in network order
  std::uint16_t port = 0;  ///< in network order
};

class bell {
 public:
  using secret = std::array<std::byte, 16>;
  bell();
  ~bell();
  bell(const bell&) = delete;
  bell& operator=(const bell&) = delete;

  /// Port 0: there is no bell here.
  bell_address here() const noexcept { return here_; }
  void meet(node_id self, std::vector<bell_address> all, const secret& known);
  /// `sent` messages went to that node so far.
  void ring(node_id to, std::uint64_t sent) const noexcept;
  /// Takes the bells that have arrived. \param counts by node: the largest number of announced messages
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
