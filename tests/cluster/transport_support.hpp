// SPDX-License-Identifier: Apache-2.0
// The common part of the tests of transports.
#pragma once

#include "in_process_network.hpp"
#include "protocol/frame.hpp"
#include "protocol/handshake.hpp"
#include "transport/tcp.hpp"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace transport_support {

using namespace sukima::cluster;
using namespace std::chrono_literals;

constexpr auto patience = 500s;

/// A socket that listens on a free port of the loopback device, as the launcher makes it.
struct listening {
  int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  std::uint16_t port = 0;
  listening() {
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof here;
    EXPECT_EQ(bind(socket, reinterpret_cast<sockaddr*>(&here), size), 0);
    EXPECT_EQ(listen(socket, 64), 0);
    EXPECT_EQ(getsockname(socket, reinterpret_cast<sockaddr*>(&here), &size), 0);
    port = ntohs(here.sin_port);
  }
};

inline tcp_settings settings_of(node_id node, unsigned nodes, const listening& at) {
  tcp_settings s;
  s.own = {.version = "1", .build_id = "abcdef", .nodes = nodes, .node = node};
  s.host = "127.0.0.1";
  s.port = at.port;
  s.token = "secret";
  if (node == 0) s.listening = at.socket;
  return s;
}

/// Connects a socket to a port of the loopback device.
inline void connect_by(int socket, std::uint16_t port) {
  sockaddr_in there{};
  there.sin_family = AF_INET;
  there.sin_port = htons(port);
  there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(socket, reinterpret_cast<sockaddr*>(&there), sizeof there), 0);
}
/// Returns a socket that is connected to a port of the loopback device.
inline int connect_to(std::uint16_t port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  connect_by(socket, port);
  return socket;
}

/// A node that completes the handshake, and then sends nothing, but stays connected.
class silent_node {
 public:
  /// \param socket  a connected socket
  /// \param omits   whether the nodes use hierarchical omission
  silent_node(int socket, handshake::role side, node_id self, unsigned nodes, std::uint16_t port,
              bool omits = false)
      : socket_(socket) {
    handshake shaken(
        side,
        {.version = "1", .build_id = "abcdef", .nodes = nodes, .node = self, .port = port, .omits = omits},
        "secret");
    if (const auto first = shaken.begin()) say(*first);
    for (bool done = false; !done;) {
      if (!read_more()) {
        ADD_FAILURE() << "the other one has gone";
        return;
      }
      while (!done) {
        const auto f = reader_.next();
        if (!f) break;
        const handshake::step next = shaken.take(*f);
        for (const frame& answer : next.answers) say(answer);
        if (next.is_proved) shaken.protect(writer_, reader_);
        if (next.sealed) say(*next.sealed);
        done = next.done;
      }
    }
    port_ = shaken.peer().port;
  }
  ~silent_node() { close(socket_); }
  silent_node(const silent_node&) = delete;
  silent_node& operator=(const silent_node&) = delete;
  /// Sends a frame.
  void say(const frame& f) {
    bytes out;
    writer_.write(out, f.kind, f.content);
    EXPECT_EQ(::write(socket_, out.data(), out.size()), static_cast<ssize_t>(out.size()));
  }
  /// Returns the next frame of the other node; nothing: that node has ended the connection.
  std::optional<frame> next() {
    for (;;) {
      if (auto f = reader_.next()) return f;
      if (!read_more()) return {};
    }
  }
  /// The port on which the other node listens.
  std::uint16_t port_of_other() const noexcept { return port_; }

 private:
  bool read_more() {
    bytes chunk(4096);
    const ssize_t size = ::read(socket_, chunk.data(), chunk.size());
    if (size > 0) reader_.feed(byte_view(chunk).first(static_cast<std::size_t>(size)));
    return size > 0;
  }

  int socket_;
  frame_writer writer_;
  frame_reader reader_;
  std::uint16_t port_ = 0;
};

struct letter {
  node_id from;
  std::string kind;  ///< "message", "left" or "lost"
  bytes content;
};

/// A node that only stores the messages that it receives.
struct listener final : receiver {
  std::vector<letter> got;
  std::thread::id thread;
  std::function<void(node_id, byte_view)> answer;
  void on_message(node_id from, byte_view message) override {
    EXPECT_EQ(std::this_thread::get_id(), thread);
    got.push_back({from, "message", bytes(message.begin(), message.end())});
    if (answer) answer(from, message);
  }
  void on_left(node_id node) override { got.push_back({node, "left", {}}); }
  void on_lost(node_id node, const std::string& why) override {
    EXPECT_FALSE(why.empty());
    got.push_back({node, "lost", {}});
  }
  std::size_t count(const std::string& kind) const {
    return static_cast<std::size_t>(
        std::count_if(got.begin(), got.end(), [&](const letter& l) { return l.kind == kind; }));
  }
};

inline bytes number(std::uint32_t n, std::size_t size = sizeof(std::uint32_t)) {
  bytes b(size);
  std::memcpy(b.data(), &n, sizeof n);
  return b;
}
inline std::uint32_t number_in(byte_view b) {
  std::uint32_t n = 0;
  std::memcpy(&n, b.data(), sizeof n);
  return n;
}

}  // namespace transport_support
