// SPDX-License-Identifier: Apache-2.0
// How two nodes make sure that they know the same token and run the same program. No input or output here.
//
//   connector -> acceptor   hello: who I am, and a random number
//   acceptor -> connector   hello, and proof: MAC(token, "acceptor", both hellos)
//   connector -> acceptor   proof: MAC(token, "connector", both hellos)
//
// Both compare the identities only when the other side has proved that it knows the token: so what a stranger
// says has no effect but the end of its connection. Keys for the frames that follow come from the token and
// both random numbers, another one for each direction. Without a token (loopback only) nothing is proved.
#pragma once

#include "protocol/frame.hpp"

#include <string>

namespace sukima::cluster {

/// What two nodes must agree on, and who they are.
struct identity {
  std::string version;  ///< of Sukima
  std::string build_id;  ///< of the program, hexadecimal
  std::uint8_t word_size = sizeof(void*);
  std::uint32_t nodes = 0;
  node_id node = 0;
  std::uint16_t port = 0;  ///< where it listens
};

class handshake {
 public:
  enum class role : std::uint8_t { connector, acceptor };
  /// \param token empty: none
  handshake(role side, identity own, std::string token);

  /// What this side sends first; nothing for the acceptor.
  std::optional<frame> begin();
  struct step {
    std::vector<frame> answers;
    bool done = false;  ///< the peer knows the token
  };
  /// \throws frame_error what arrived is no handshake, or by somebody who does not know the token
  step take(const frame& arrived);

  /// The other side, once it is `done`.
  const identity& peer() const noexcept { return peer_; }
  /// What keeps both from working together, as one sentence; empty: nothing. Once it is `done`.
  std::string obstacle() const;
  /// Keys of the frames from now on; nothing without a token.
  void protect(frame_writer& outgoing, frame_reader& incoming) const;

 private:
  digest proof(role by) const;
  digest key(role by) const;

  const role side_;
  const identity own_;
  const std::string token_;
  bytes own_hello_;
  bytes peer_hello_;
  identity peer_;
};

}  // namespace sukima::cluster
