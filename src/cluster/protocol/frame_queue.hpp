// SPDX-License-Identifier: Apache-2.0
// The frames that wait to be sent on a connection, in order.
//
// A long frame is turned into bytes in pieces, one for each write to the socket. So the thread that sends it
// can send heartbeats to other nodes in between.
#pragma once

#include "protocol/frame.hpp"

#include <deque>

namespace sukima::cluster {

class frame_queue {
 public:
  /// Contents up to this length become bytes at once, and so much of longer ones at a time.
  static constexpr std::size_t piece_size = std::size_t{256} << 10;

  /// The writer of the frames, for the handshake. \pre no long frame waits
  frame_writer& writer() noexcept { return writer_; }
  /// Appends a frame. \pre the content is not longer than `largest_message`
  void add(frame_kind kind, byte_view content);
  /// The same, without a copy of a long content.
  void add(frame_kind kind, bytes&& content);
  /// Number of bytes of frames of which nothing was taken.
  std::size_t size() const noexcept { return encoded_.size() + waiting_size_; }
  bool empty() const noexcept { return encoded_.empty() && waiting_.empty(); }
  /// Replaces `to` by the next bytes to be sent. They are at most twice `piece_size` if long frames wait, and
  /// otherwise all bytes. \pre !empty()
  void take(bytes& to);

 private:
  struct waiting_frame {
    frame_kind kind;
    bytes content;
    std::size_t taken = 0;
    bool has_begun = false;
  };
  /// Whether a frame must wait behind long ones, or is long itself.
  bool must_wait(std::size_t size) const noexcept { return !waiting_.empty() || size > piece_size; }

  frame_writer writer_;
  bytes encoded_;  ///< the frames before those in `waiting_`
  std::deque<waiting_frame> waiting_;
  std::size_t waiting_size_ = 0;  ///< of the contents of those that have not begun
};

}  // namespace sukima::cluster
