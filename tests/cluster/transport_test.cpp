// SPDX-License-Identifier: Apache-2.0
// The contract of transports (transport/transport.hpp), for each implementation.
#include "transport/in_process.hpp"
#include "transport/tcp.hpp"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <string>
#include <thread>

namespace {

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

tcp_settings settings_of(node_id node, unsigned nodes, const listening& at) {
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

class transports : public testing::TestWithParam<std::string> {
 protected:
  static constexpr unsigned count = 3;
  void SetUp() override {
    if (GetParam() == "in_process") {
      network_ = std::make_unique<in_process_network>(in_process_network::options{.nodes = count, .seed = 7});
      for (node_id n = 0; n < count; ++n) all.push_back(network_->join(n));
    } else {
      const listening at;
      for (node_id n = 0; n < count; ++n) all.push_back(make_tcp_transport(settings_of(n, count, at)));
    }
    listeners.resize(count);
  }
  /// Each node's thread: start, then main(node), then stop.
  void on_each(const std::function<void(node_id)>& main) {
    std::vector<std::thread> threads;
    for (node_id n = 0; n < count; ++n)
      threads.emplace_back([&, n] {
        listeners[n].thread = std::this_thread::get_id();
        EXPECT_EQ(all[n]->start(listeners[n], clock::now() + patience), n);
        EXPECT_EQ(all[n]->nodes(), count);
        main(n);
        all[n]->stop(clock::now() + patience);
      });
    for (std::thread& t : threads) t.join();
  }
  template <class Condition> void wait_until(node_id n, Condition holds) {
    while (!holds()) all[n]->wait(clock::now() + patience);
  }

  std::unique_ptr<in_process_network> network_;
  std::vector<std::unique_ptr<transport>> all;
  std::vector<listener> listeners;
};

bytes number(std::uint32_t n, std::size_t size = sizeof(std::uint32_t)) {
  bytes b(size);
  std::memcpy(b.data(), &n, sizeof n);
  return b;
}
std::uint32_t number_of(byte_view b) {
  std::uint32_t n = 0;
  std::memcpy(&n, b.data(), sizeof n);
  return n;
}

TEST_P(transports, deliver_each_pairs_messages_once_and_in_order) {
  constexpr std::uint32_t messages = 300;
  on_each([&](node_id self) {
    std::mt19937 draws(self);
    for (std::uint32_t i = 0; i < messages; ++i)
      for (node_id to = 0; to < count; ++to) {
        if (to == self) continue;
        const std::size_t size = draws() % 50 == 0 ? 30000 : sizeof i + draws() % 100;
        while (true) {
          bytes m = number(i, size);
          if (all[self]->send(to, std::move(m))) break;
          all[self]->wait(clock::now() + 1ms);
        }
      }
    wait_until(self, [&] { return listeners[self].count("message") == messages * (count - 1); });
  });
  for (node_id self = 0; self < count; ++self) {
    std::vector<std::uint32_t> next(count, 0);
    for (const letter& l : listeners[self].got)
      if (l.what == "message") {
        EXPECT_EQ(number_of(l.content), next[l.from]++);
      }
    for (node_id from = 0; from < count; ++from) EXPECT_EQ(next[from], from == self ? 0 : messages);
  }
}

TEST_P(transports, tell_that_a_node_left_after_all_that_it_sent) {
  on_each([&](node_id self) {
    if (self == 2) {
      for (std::uint32_t i = 0; i < 50; ++i)
        for (node_id to : {0u, 1u}) EXPECT_TRUE(all[2]->send(to, number(i, 5000)));
      return;
    }
    wait_until(self, [&] { return listeners[self].count("left") >= 1; });
    const auto& got = listeners[self].got;
    const auto left = std::find_if(got.begin(), got.end(), [](const letter& l) { return l.what == "left"; });
    if (left->from == 2) {
      EXPECT_EQ(std::count_if(got.begin(), left, [](const letter& l) { return l.from == 2; }), 50);
    }
  });
  EXPECT_EQ(listeners[0].count("lost") + listeners[1].count("lost"), 0u);
}

TEST_P(transports, end_a_wait_by_a_ring) {
  std::atomic<bool> rung{false};
  on_each([&](node_id self) {
    if (self != 0) return;
    std::thread other([&] {
      rung = true;
      all[0]->ring();
    });
    while (!rung) all[0]->wait(clock::now() + patience);
    other.join();
    all[0]->ring();  // before the wait
    all[0]->wait(clock::now() + patience);
  });
}

TEST_P(transports, take_messages_of_any_thread_and_of_the_receiver) {
  constexpr unsigned each = 100;
  on_each([&](node_id self) {
    const node_id next = (self + 1) % count;
    listeners[self].answer = [&, self](node_id from, byte_view m) {
      if (m.size() == sizeof(std::uint32_t)) {
        EXPECT_TRUE(all[self]->send(from, number(number_of(m), 8)));
      }
    };
    std::vector<std::thread> senders;
    for (unsigned t = 0; t < 3; ++t)
      senders.emplace_back([&] {
        for (std::uint32_t i = 0; i < each; ++i) EXPECT_TRUE(all[self]->send(next, number(i)));
      });
    wait_until(self, [&] { return listeners[self].count("message") == 6 * each; });
    for (std::thread& t : senders) t.join();
  });
}

TEST_P(transports, refuse_what_would_fill_the_memory) {
  std::atomic<bool> refused{false};
  on_each([&](node_id self) {
    if (self == 0) {
      while (!refused) {  // node 2 does not read meanwhile
        bytes large(most_queued / 4);
        refused = !all[0]->send(2, std::move(large));
        refused.notify_all();
        EXPECT_EQ(large.size(), refused ? most_queued / 4 : large.size()) << "it stays with its sender";
      }
      EXPECT_TRUE(all[0]->send(1, number(1))) << "others are not concerned";
    }
    if (self == 1) wait_until(1, [&] { return listeners[1].count("message") == 1; });
    if (self == 2) {
      refused.wait(false);
      wait_until(2, [&] { return listeners[2].count("left") == 2; });
    }
  });
}

INSTANTIATE_TEST_SUITE_P(all, transports, testing::Values("in_process", "tcp"),
                         [](const auto& of) { return of.param; });

TEST(in_process_transport, loses_a_node_that_is_killed) {
  in_process_network network({.nodes = 2});
  const auto a = network.join(0);
  const auto b = network.join(1);
  listener to_a;
  listener to_b;
  std::thread other([&] { b->start(to_b, clock::now() + patience); });
  a->start(to_a, clock::now() + patience);
  other.join();
  network.kill(1);
  while (to_a.got.empty()) a->wait(clock::now() + patience);
  EXPECT_EQ(to_a.got.front().what, "lost");
  EXPECT_FALSE(a->send(1, number(1)));
}

/// Starts node 0 of two and another peer of it, and returns node 0's failure, or what it got at first.
struct meeting {
  listening at;
  listener to_0;
  listener to_1;
  std::unique_ptr<transport> node_0;
  std::unique_ptr<transport> node_1;
  std::string failure_0;
  std::string failure_1;
  void hold(const std::function<void(tcp_settings&)>& change, std::chrono::milliseconds time) {
    node_0 = make_tcp_transport(settings_of(0, 2, at));
    tcp_settings other = settings_of(1, 2, at);
    change(other);
    node_1 = make_tcp_transport(std::move(other));
    const auto start = [&](transport& t, listener& to, std::string& failure) {
      try {
        t.start(to, clock::now() + time);
      } catch (const start_failure& f) {
        failure = f.what();
      }
    };
    std::thread second([&] { start(*node_1, to_1, failure_1); });
    start(*node_0, to_0, failure_0);
    second.join();
  }
};

TEST(tcp_transport, refuses_another_program) {
  meeting m;
  m.hold([](tcp_settings& s) { s.own.build_id = "123456"; }, 500s);
  EXPECT_NE(m.failure_0.find("another program: build id abcdef… here, 123456… at node 1"), std::string::npos)
      << m.failure_0;
  EXPECT_NE(m.failure_1.find("another program: build id 123456… here, abcdef… at node 0"), std::string::npos)
      << m.failure_1;
}

TEST(tcp_transport, refuses_another_version) {
  meeting m;
  m.hold([](tcp_settings& s) { s.own.version = "2"; }, 500s);
  EXPECT_NE(m.failure_1.find("another version of Sukima: 2 here, 1 at node 0"), std::string::npos)
      << m.failure_1;
}

TEST(tcp_transport, refuses_another_token_and_waits_on) {
  meeting m;
  m.hold([](tcp_settings& s) { s.token = "guessed"; }, 300ms);
  EXPECT_NE(m.failure_1.find("it has another token"), std::string::npos) << m.failure_1;
  EXPECT_NE(m.failure_0.find("not all nodes came in time: 1 of 2 are missing"), std::string::npos)
      << m.failure_0;
}

TEST(tcp_transport, has_only_the_loopback_device_without_a_token) {
  tcp_settings s;
  s.own = {.version = "1", .build_id = "a", .nodes = 2, .node = 0};
  s.host = "0.0.0.0";
  listener to;
  const auto t = make_tcp_transport(s);
  EXPECT_THROW(t->start(to, clock::now() + patience), start_failure);
}

TEST(tcp_transport, says_which_port_is_taken) {
  const listening taken;
  tcp_settings s;
  s.own = {.version = "1", .build_id = "a", .nodes = 2, .node = 0};
  s.host = "127.0.0.1";
  s.port = taken.port;
  s.token = "secret";
  listener to;
  const auto t = make_tcp_transport(s);
  try {
    t->start(to, clock::now() + patience);
    FAIL();
  } catch (const start_failure& failure) {
    EXPECT_NE(std::string(failure.what()).find("cannot listen on port " + std::to_string(taken.port)),
              std::string::npos)
        << failure.what();
  }
  close(taken.socket);
}

int connect_to(std::uint16_t port) {
  const int s = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in there{};
  there.sin_family = AF_INET;
  there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  there.sin_port = htons(port);
  EXPECT_EQ(connect(s, reinterpret_cast<sockaddr*>(&there), sizeof there), 0);
  return s;
}

TEST(tcp_transport, is_not_disturbed_by_strangers) {
  meeting m;
  // A peer that says nothing, one that sends garbage, one that goes at once; then the right one comes.
  const int silent = connect_to(m.at.port);
  const int noisy = connect_to(m.at.port);
  const std::string garbage(3000, '\xa5');
  EXPECT_EQ(write(noisy, garbage.data(), garbage.size()), static_cast<ssize_t>(garbage.size()));
  close(connect_to(m.at.port));
  m.hold([](tcp_settings&) {}, 500s);
  EXPECT_EQ(m.failure_0 + m.failure_1, "");
  char byte = 0;
  EXPECT_LE(recv(noisy, &byte, 1, 0), 0) << "the connection was closed";
  close(silent);
  close(noisy);
}

TEST(tcp_transport, loses_a_node_whose_connection_ends) {
  meeting m;
  m.hold([](tcp_settings&) {}, 500s);
  EXPECT_EQ(m.failure_0 + m.failure_1, "");
  m.to_0.thread = std::this_thread::get_id();
  m.node_1.reset();  // without stop
  while (m.to_0.got.empty()) m.node_0->wait(clock::now() + patience);
  EXPECT_EQ(m.to_0.got.front().what, "lost");
}

}  // namespace
