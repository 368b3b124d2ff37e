// SPDX-License-Identifier: Apache-2.0
// One TCP connection: its handshake, the bytes to send, the bytes received.
#pragma once

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

/// Runs on the thread of its io_context, but for send().
class tcp_connection : public std::enable_shared_from_this<tcp_connection> {
 public:
  using socket = boost::asio::ip::tcp::socket;
  struct events {
    /// The handshake has ended. \returns whether the connection is kept
    std::function<bool(tcp_connection&)> on_open;
    std::function<void(tcp_connection&, const frame&)> on_frame;
    /// Something arrived, perhaps a part of a frame: the node lives.
    std::function<void(tcp_connection&)> on_bytes;
    /// Called once; nothing comes after it.
    std::function<void(tcp_connection&, const std::string& why)> on_closed;
  };
  tcp_connection(boost::asio::io_context& io, socket s, handshake with, events handlers);

  /// Begins to read, and the handshake.
  void begin();
  /// Begins, and closes the connection if the other side has not proved in that time that it knows the token.
  void begin_within(std::chrono::milliseconds time);
  handshake::role side() const noexcept { return handshake_.side(); }
  /// Whether the other side knows the token.
  bool is_proved() const noexcept { return is_proved_; }
  /// Any thread. \returns false: too much is queued, or it is closed
  bool send(frame_kind kind, byte_view content, std::size_t most);
  /// Closes it without an event.
  void close() noexcept;
  /// Ends sending: the other side reads the end. This side still reads.
  void end_sending() noexcept;
  bool is_sending() const;
  /// How many bytes the other side's system has taken; never less than before. By the thread of the
  /// io_context.
  std::uint64_t acknowledged() noexcept;
  bool is_closed() const;
  /// Whether the other side is not a node of this cluster: it has another token, or sends other messages than
  /// nodes.
  bool is_refused() const noexcept { return refused_; }
  /// The reason why the nodes cannot work together; empty: they can.
  std::string obstacle() const { return handshake_.obstacle(); }
  const identity& peer() const noexcept { return handshake_.peer(); }
  /// The peer's address, as text.
  std::string address() const;

 private:
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
  boost::asio::steady_timer patience_;  ///< with the other side's proof
  frame_reader reader_;
  std::array<std::byte, 65536> chunk_;
  std::uint64_t sent_ = 0;  ///< bytes that the system has taken
  std::uint64_t acknowledged_ = 0;

  mutable std::mutex lock_;  ///< guards the rest
  frame_writer writer_;
  bytes queued_;  ///< not on its way yet
  bytes sending_;
  bool writing_ = false;
  bool is_last_queued_ = false;  ///< the connection ends when all is sent
  bool closed_ = false;
};

}  // namespace sukima::cluster
