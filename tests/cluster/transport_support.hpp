// SPDX-License-Identifier: Apache-2.0
// What the tests of transports have in common.
#pragma once

#include "transport/in_process.hpp"
#include "transport/tcp.hpp"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
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

struct letter {
  node_id from;
  std::string what;  ///< "message", "left" or "lost"
  bytes content;
};

/// A node that only keeps what it gets.
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
  std::size_t count(const std::string& what) const {
    return static_cast<std::size_t>(
        std::count_if(got.begin(), got.end(), [&](const letter& l) { return l.what == what; }));
  }
};

inline bytes number(std::uint32_t n, std::size_t size = sizeof(std::uint32_t)) {
  bytes b(size);
  std::memcpy(b.data(), &n, sizeof n);
  return b;
}
inline std::uint32_t number_of(byte_view b) {
  std::uint32_t n = 0;
  std::memcpy(&n, b.data(), sizeof n);
  return n;
}

}  // namespace transport_support
