// SPDX-License-Identifier: Apache-2.0
// One TCP connection: its handshake, the bytes to send, and the bytes received.
#pragma once

#include "protocol/frame_queue.hpp"
#include "protocol/handshake.hpp"
#include "transport/transport.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace sukima::cluster {

/// Returns an address as text. A socket for IPv6 and IPv4 shows addresses of IPv4 as addresses of IPv6, which
/// machines without IPv6 cannot use; the text is that of IPv4.
std::string text_of(const boost::asio::ip::address& address);

/// Runs on the thread of its io_context, except send().
class tcp_connection : public std::enable_shared_from_this<tcp_connection> {
 public:
  using socket = boost::asio::ip::tcp::socket;
  struct events {
    /// Called when the handshake has ended. \returns whether to keep the connection
    std::function<bool(tcp_connection&)> on_open;
    std::function<void(tcp_connection&, const frame&)> on_frame;
    /// Called when bytes arrive, perhaps a part of a frame: the node is alive.
    std::function<void(tcp_connection&)> on_bytes;
    /// Called once, as the last event.
    std::function<void(tcp_connection&, const std::string& why)> on_closed;
  };
  tcp_connection(boost::asio::io_context& io, socket s, handshake with, events handlers);

  /// Starts the handshake, and reads.
  void begin();
  /// Like begin(), and closes the connection if the other side has not proved in time that it knows the
  /// token.
  void begin_within(std::chrono::milliseconds time);
  handshake::role side() const noexcept { return handshake_.side(); }
  /// Whether the other side has proved that it knows the token.
  bool is_proved() const noexcept { return is_proved_; }
  /// Any thread may call this. \returns false: too much is queued, or the connection is closed
  bool send(frame_kind kind, byte_view content, std::size_t most);
  /// The same, without a copy of a long content. If the result is false, the content is unchanged.
  bool send(frame_kind kind, bytes&& content, std::size_t most);
  /// Closes the connection without calling on_closed.
  void close() noexcept;
  /// Ends the sending direction: the other side reads the end of the stream. This side still reads.
  void end_sending() noexcept;
  bool is_sending() const;
  /// Returns the number of bytes that the other side's system has acknowledged. Never falls. Only for the
  /// thread of the io_context.
  std::uint64_t acknowledged() noexcept;
  bool is_closed() const;
  /// Whether the other side is not a node of this cluster: it has another token, or its messages are not
  /// those of a node.
  bool is_refused() const noexcept { return refused_; }
  /// The reason why the two nodes cannot work together; empty: they can.
  std::string obstacle() const { return handshake_.obstacle(); }
  const identity& peer() const noexcept { return handshake_.peer(); }
  /// The peer's address, as text.
  std::string address() const;

 private:
  /// \tparam Content  byte_view or bytes
  template <class Content> bool queue(frame_kind kind, Content&& content, std::size_t most);
  void read();
  void arrived(std::size_t size);
  void take(const frame& f);
  void write();
  void fail(const std::string& why);

  boost::asio::io_context& io_;
  socket socket_;
  handshake handshake_;
  events handlers_;
  bool open_ = false;
  bool is_proved_ = false;
  bool refused_ = false;
  boost::asio::steady_timer patience_;  ///< ends when the other side has not proved the token in time
  frame_reader reader_;
  std::array<std::byte, 65536> chunk_;
  std::uint64_t sent_ = 0;  ///< bytes that this system has accepted
  std::uint64_t acknowledged_ = 0;

  mutable std::mutex lock_;  ///< guards the members below
  frame_queue queued_;  ///< the frames that are not being sent yet
  bytes sending_;
  bool writing_ = false;
  bool is_last_queued_ = false;  ///< the connection ends when all bytes are sent
  bool closed_ = false;
};

}  // namespace sukima::cluster
