// SPDX-License-Identifier: Apache-2.0
// The bell: MPI cannot sleep until a message comes, so a datagram follows each message, and a node sleeps in
// poll(2) until one comes. A bell says nothing but how many messages there are; one that is lost costs the
// time of an insurance, a forged one some probes.
#pragma once

#include "transport/transport.hpp"

#include <netinet/in.h>

#include <array>

namespace sukima::cluster {

/// The address of a node's bell, as the nodes send it to each other: plain bytes.
struct bell_address {
  std::uint64_t host = 0;  ///< the same for nodes that reach each other by the loopback device
  std::uint32_t address = 0;  ///< IPv4 of the host, in network order
  std::uint16_t port = 0;     ///< in network order
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
  /// Takes what has rung. \param counts by node: the most messages that were announced
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
