// SPDX-License-Identifier: Apache-2.0
// How two nodes verify that they know the same token and run the same program. This code does no input or
// output.
//
//   acceptor -> connector   challenge: a random number
//   connector -> acceptor   proof: a random number, and MAC(token, "connector", both numbers)
//   acceptor -> connector   proof: MAC(token, "acceptor", both numbers); empty: the token differs
//   both                    hello: the identity of the sender; protected by the keys
//
// The connector is the first to prove that it knows the token. Nodes send their identities only after both
// have proved it. So a stranger that connects learns only a random number, and can end only its own
// connection. The keys of the frames from hello on are derived from the token and both random numbers; each
// direction has its own key. Without a token (loopback device only) nothing is proved.
#pragma once

#include "protocol/frame.hpp"

#include <string>
#include <string_view>

namespace sukima::cluster {

/// The identity of a node, and the properties on which two nodes must agree.
struct identity {
  std::string version;  ///< of Sukima
  std::string build_id;  ///< of the program, hexadecimal
  std::uint8_t word_size = sizeof(void*);
  std::uint32_t nodes = 0;  ///< 0: the process has no number yet, and requests one (transport/tcp_place.hpp)
  node_id node = 0;
  std::uint16_t port = 0;  ///< the port where it listens
  bool omits = false;  ///< whether it runs under hierarchical omission
  bool asks_for_place() const noexcept { return nodes == 0; }
};

/// The reason why a connection ends if the tokens differ.
inline constexpr const char* another_token = "it has another token";

class handshake {
 public:
  enum class role : std::uint8_t { connector, acceptor };
  /// \param token empty: no token
  handshake(role side, identity own, std::string token);

  role side() const noexcept { return side_; }
  /// Returns the first message of this side; nothing for the connector.
  std::optional<frame> begin();
  struct step {
    std::vector<frame> answers{};
    bool is_proved = false;  ///< the peer knows the token: later frames in both directions carry a MAC
    std::optional<frame> sealed{};  ///< another answer, which is sent with a MAC
    bool is_refused = false;  ///< the peer does not know the token; the answer reports that
    bool done = false;  ///< the peer has sent its identity
  };
  /// \throws frame_error the frame does not belong to a handshake, or its sender does not know the token
  step take(const frame& arrived);

  /// The identity of the other side. Valid after `done`.
  const identity& peer() const noexcept { return peer_; }
  /// Returns why both nodes cannot work together, as one sentence; empty: they can. Valid after `done`.
  std::string obstacle() const;
  /// Sets the keys of all later frames. Does nothing without a token.
  void protect(frame_writer& outgoing, frame_reader& incoming) const;

 private:
  enum class awaited : std::uint8_t { challenge, proof, hello };

  step answer_challenge(const frame& arrived);
  step check_connector(const frame& arrived);
  step check_acceptor(const frame& arrived);
  /// Returns the MAC of both random numbers, with the token as the key.
  digest mac_of(std::string_view purpose) const;

  const role side_;
  const identity own_;
  const std::string token_;
  awaited next_;
  digest own_number_;
  digest peer_number_{};
  identity peer_;
};

}  // namespace sukima::cluster
