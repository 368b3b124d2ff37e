// SPDX-License-Identifier: Apache-2.0
// How two nodes make sure that they know the same token and run the same program. No input or output here.
//
//   acceptor -> connector   challenge: a random number
//   connector -> acceptor   proof: a random number, and MAC(token, "connector", both numbers)
//   acceptor -> connector   proof: MAC(token, "acceptor", both numbers); empty: the token differs
//   both                    hello: own identity, under the keys
//
// The connector proves that it knows the token first. Nodes send their identities only after both have proved
// it. So a stranger that connects learns a random number, and can only end its own connection. The keys of
// the frames from hello on are derived from the token and both random numbers, a different key for each
// direction. Without a token (loopback only) nothing is proved.
#pragma once

#include "protocol/frame.hpp"

#include <string>
#include <string_view>

namespace sukima::cluster {

/// Properties on which two nodes must agree, and their identity.
struct identity {
  std::string version;  ///< of Sukima
  std::string build_id;  ///< of the program, hexadecimal
  std::uint8_t word_size = sizeof(void*);
  std::uint32_t nodes = 0;  ///< 0: it has no number yet, and asks for one (transport/tcp_place.hpp)
  node_id node = 0;
  std::uint16_t port = 0;  ///< where it listens
  bool omits = false;  ///< hierarchical omission
  bool asks_for_place() const noexcept { return nodes == 0; }
};

/// Why a connection to such a node ends.
inline constexpr const char* another_token = "it has another token";

class handshake {
 public:
  enum class role : std::uint8_t { connector, acceptor };
  /// \param token empty: none
  handshake(role side, identity own, std::string token);

  role side() const noexcept { return side_; }
  /// The first message of this side; nothing for the connector.
  std::optional<frame> begin();
  struct step {
    std::vector<frame> answers{};
    bool is_proved = false;  ///< the peer knows the token: what follows in both directions is under the keys
    std::optional<frame> sealed{};  ///< the answer that follows under the keys
    bool is_refused = false;  ///< the peer does not know the token, which the answer says
    bool done = false;  ///< the peer has sent its identity
  };
  /// \throws frame_error the frame is not part of a handshake, or its sender does not know the token
  step take(const frame& arrived);

  /// The other side, once it is `done`.
  const identity& peer() const noexcept { return peer_; }
  /// The reason why both cannot work together, as one sentence; empty: they can. Once it is `done`.
  std::string obstacle() const;
  /// Keys of the frames from now on; nothing without a token.
  void protect(frame_writer& outgoing, frame_reader& incoming) const;

 private:
  enum class awaited : std::uint8_t { challenge, proof, hello };

  step answer_challenge(const frame& arrived);
  step check_connector(const frame& arrived);
  step check_acceptor(const frame& arrived);
  /// Of both random numbers, under the token.
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
