// SPDX-License-Identifier: Apache-2.0
// Frames of a stream of bytes. A frame is a length of four bytes, a kind and the content. Once both sides
// have proved that they know the token, a MAC of 16 bytes follows, over the frame and its number.
#pragma once

#include "protocol/mac.hpp"
#include "transport/transport.hpp"

#include <optional>
#include <stdexcept>

namespace sukima::cluster {

enum class frame_kind : std::uint8_t {
  hello = 1,    ///< of the handshake (handshake.hpp), like proof and challenge
  proof = 2,
  members = 3,  ///< addresses of the nodes, sent by node 0
  data = 4,     ///< a message of the node
  leave = 5,    ///< the last frame of a node that leaves
  alive = 6,    ///< a heartbeat: empty, or one byte, which requests a heartbeat
  lost = 7,     ///< the number of a node that was silent for too long
  challenge = 8,
  place = 9,  ///< the answer to a process that joins; to a node: the next number (tcp_place.hpp)
  answer = 10,  ///< the answer to a call: whether its connection is used (transport/calls.hpp)
  gone = 11,  ///< the number of a node, and 0 if the sender lost it or 1 if it left
};

/// Thrown if the bytes that arrived are not a frame: another program sent them, or they are damaged or
/// forged.
struct frame_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The longest frame that is accepted before the handshake has ended.
inline constexpr std::size_t largest_first_frame = 4096;
inline constexpr std::size_t mac_size = 16;

struct frame {
  frame_kind kind;
  bytes content;
};

/// Writes the frames of one direction of a connection.
class frame_writer {
 public:
  /// Adds a MAC to all later frames. \pre no frame is unfinished
  void protect(const digest& key) noexcept { key_ = key; }
  /// Appends a frame. \pre the content is not longer than `largest_message`; no frame is unfinished
  void write(bytes& to, frame_kind kind, byte_view content);

  /// The same in steps: begin(), then add() for each piece of the content, then end().
  /// \param size  the length of the whole content
  void begin(bytes& to, frame_kind kind, std::size_t size);
  void add(bytes& to, byte_view piece);
  void end(bytes& to);

 private:
  std::optional<digest> key_;
  std::optional<running_mac> code_;  ///< of the unfinished frame
  std::uint64_t number_ = 0;
};

/// Finds the frames in the received bytes. Stores only bytes that have arrived, whatever length a frame
/// claims. Takes the bytes of a long frame as they arrive, because a thread that handled such a frame at once
/// could send no heartbeats in the meantime.
class frame_reader {
 public:
  void protect(const digest& key) noexcept { key_ = key; }
  /// Sets the longest content that is accepted from now on.
  void allow(std::size_t longest) noexcept { longest_ = longest; }
  void feed(byte_view arrived);
  /// Returns the next frame; nothing: it is not complete yet. Complexity: linear in the bytes that have
  /// arrived since the last call.
  /// \throws frame_error the bytes are not a frame
  std::optional<frame> next();
  /// Number of bytes that next() has not handled. After it has returned nothing, at most those of a header or
  /// of a MAC.
  std::size_t unhandled() const noexcept { return buffer_.size() - begin_; }

 private:
  /// A frame whose header has arrived.
  struct unfinished {
    std::size_t size;  ///< length of the content
    std::byte kind;
    bytes content{};
    std::optional<running_mac> code{};
  };
  byte_view take(std::size_t size) noexcept;
  bool begin_frame();
  void check_code();

  std::optional<digest> key_;
  std::uint64_t number_ = 0;
  std::size_t longest_ = largest_first_frame;
  bytes buffer_;
  std::size_t begin_ = 0;  ///< the bytes before this index have been handled
  std::optional<unfinished> current_;
};

}  // namespace sukima::cluster
