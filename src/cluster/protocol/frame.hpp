// SPDX-License-Identifier: Apache-2.0
// Frames of a stream of bytes: a length of four bytes, a kind, the content, and, once both sides have proved
// that they know the token, 16 bytes of a MAC over the frame and its number.
#pragma once

#include "protocol/mac.hpp"
#include "transport/transport.hpp"

#include <optional>
#include <stdexcept>

namespace sukima::cluster {

enum class frame_kind : std::uint8_t {
  hello = 1,    ///< of the handshake (handshake.hpp), as are proof and challenge
  proof = 2,
  members = 3,  ///< addresses of the nodes, by node 0
  data = 4,     ///< a message of the node
  leave = 5,    ///< the last one
  alive = 6,    ///< a heartbeat: nothing in it; or a byte, which asks for one
  lost = 7,     ///< the number of a node that was silent too long
  challenge = 8,
  place = 9,  ///< the answer to a process that joins a run; to a node: the next number (tcp_place.hpp)
  answer = 10,  ///< to a call: whether its connection is used (transport/calls.hpp)
  gone = 11,  ///< the number of a node that the sender has lost, and 0; or that has left, and 1
};

/// The bytes that arrived are not a frame: another program sent them, or they are damaged or forged.
struct frame_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Frames of this length and less are read before the handshake has ended.
inline constexpr std::size_t largest_first_frame = 4096;
inline constexpr std::size_t mac_size = 16;

struct frame {
  frame_kind kind;
  bytes content;
};

/// Makes frames of one direction of a connection.
class frame_writer {
 public:
  /// From now on frames carry a MAC.
  void protect(const digest& key) noexcept { key_ = key; }
  /// Appends a frame. \pre the content is not longer than `largest_message`
  void write(bytes& to, frame_kind kind, byte_view content);

 private:
  std::optional<digest> key_;
  std::uint64_t number_ = 0;
};

/// Finds the frames in the received bytes. It keeps only the bytes that have arrived, whatever length a frame
/// claims.
class frame_reader {
 public:
  void protect(const digest& key) noexcept { key_ = key; }
  /// Longer frames are an error from now on.
  void allow(std::size_t longest) noexcept { longest_ = longest; }
  void feed(byte_view arrived);
  /// The next frame; nothing: it is not complete yet.
  /// \throws frame_error
  std::optional<frame> next();

 private:
  std::optional<digest> key_;
  std::uint64_t number_ = 0;
  std::size_t longest_ = largest_first_frame;
  bytes buffer_;
  std::size_t begin_ = 0;  ///< what is before it in the buffer was taken
};

}  // namespace sukima::cluster
