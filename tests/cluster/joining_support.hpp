// SPDX-License-Identifier: Apache-2.0
// Nodes of a run that other nodes join, for tests.
#pragma once

#include "transport/tcp_place.hpp"
#include "transport_support.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>

namespace joining_support {

using namespace transport_support;

enum class mode : std::uint8_t { steals, omits };

/// A node that waits for messages on its own thread. It sends each node that joins results, and then its
/// number.
class running_node {
 public:
  /// \param results  number of results, of one MiB each
  explicit running_node(tcp_settings s, unsigned results = 0)
      : node_(s.own.node), self_(make_tcp_transport(std::move(s))), to_(*self_, results), thread_([this] {
          EXPECT_EQ(self_->start(to_, clock::now() + patience), node_);
          EXPECT_TRUE(self_->can().takes_joins);
          has_met_ = true;
          while (!ends_) {
            self_->wait(clock::now() + 1ms);
            if (to_.joined && self_->send(*to_.joined, number(node_))) to_.joined.reset();
          }
          self_->stop(1s);
        }) {}
  ~running_node() {
    ends_ = true;
    thread_.join();
  }
  running_node(const running_node&) = delete;
  running_node& operator=(const running_node&) = delete;

  void wait_until_met() const {
    while (!has_met_) std::this_thread::yield();
  }
  void wait_until_left(node_id node) const {
    while (!to_.left[node]) std::this_thread::yield();
  }

 private:
  struct watcher final : receiver {
    transport& self;
    const unsigned results;
    std::optional<node_id> joined;
    std::array<std::atomic<bool>, 8> left{};
    watcher(transport& of, unsigned count) : self(of), results(count) {}
    void on_message(node_id, byte_view) override {}
    void on_joined(node_id node) override {
      left[node] = false;
      joined = node;
      for (unsigned r = 0; r < results; ++r) static_cast<void>(self.send(node, bytes(std::size_t{1} << 20)));
    }
    void on_left(node_id node) override { left[node] = true; }
    void on_lost(node_id node, const std::string&) override { left[node] = true; }
  };
  const node_id node_;
  const std::unique_ptr<transport> self_;
  watcher to_;
  std::atomic<bool> has_met_{false};
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

/// Settings of a node in a run with room.
inline tcp_settings running(node_id node, unsigned nodes, unsigned room, const listening& at,
                            mode how = mode::omits) {
  tcp_settings s = settings_of(node, nodes, at);
  s.room = room;
  s.survives_losses = how == mode::omits;
  return s;
}

/// Settings of a process that requests a place at a port.
inline tcp_settings asking(std::uint16_t port, mode how = mode::omits) {
  tcp_settings s;
  s.own = {.version = "1", .build_id = "abcdef"};
  s.host = "127.0.0.1";
  s.port = port;
  s.token = "secret";
  s.survives_losses = how == mode::omits;
  return s;
}

/// Settings of a node that has received that place.
inline tcp_settings with_place(tcp_settings s, const place& given) {
  s.own.nodes = given.nodes;
  s.own.node = given.node;
  s.room = given.room;
  s.sponsor = given.sponsor;
  return s;
}

inline place ask_at(std::uint16_t port, mode how = mode::omits) {
  return ask_for_place(asking(port, how), clock::now() + patience);
}

/// Returns the ports on which this process listens.
inline std::set<std::uint16_t> listening_ports() {
  std::set<std::uint16_t> all;
  for (int file = 0; file < 1024; ++file) {
    int listens = 0;
    socklen_t size = sizeof listens;
    if (getsockopt(file, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || listens == 0) continue;
    sockaddr_in here{};
    size = sizeof here;
    EXPECT_EQ(getsockname(file, reinterpret_cast<sockaddr*>(&here), &size), 0);
    all.insert(ntohs(here.sin_port));
  }
  return all;
}

}  // namespace joining_support
