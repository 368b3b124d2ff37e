// SPDX-License-Identifier: Apache-2.0
// TCP under hierarchical omission: nodes that do not come, or are lost, end no other one.
#include "transport_support.hpp"

#include <sys/mman.h>

#include <atomic>
#include <memory>
#include <utility>

namespace {

using namespace transport_support;

/// The file that says which nodes have ended.
struct ended_nodes {
  int file = memfd_create("ended", MFD_CLOEXEC);
  explicit ended_nodes(unsigned nodes) { EXPECT_EQ(ftruncate(file, nodes), 0); }
  ~ended_nodes() { close(file); }
  ended_nodes(const ended_nodes&) = delete;
  ended_nodes& operator=(const ended_nodes&) = delete;
  void add(node_id node) const { EXPECT_EQ(pwrite(file, "1", 1, node), 1); }
};

/// Some nodes of several, each with a thread while they meet.
struct survivors {
  listening at;
  ended_nodes ended;
  std::vector<std::unique_ptr<transport>> nodes;
  std::vector<listener> to;
  explicit survivors(unsigned count) : ended(count), nodes(count), to(count) {}
  ~survivors() {
    if (nodes[0] == nullptr) close(at.socket);
  }
  survivors(const survivors&) = delete;
  survivors& operator=(const survivors&) = delete;

  void meet(const std::vector<node_id>& living, std::chrono::milliseconds heartbeat = 500s) {
    std::vector<std::thread> threads;
    for (const node_id n : living) {
      tcp_settings s = settings_of(n, static_cast<unsigned>(nodes.size()), at);
      s.survives_losses = true;
      s.ended_nodes = ended.file;
      s.heartbeat.period = heartbeat;
      nodes[n] = make_tcp_transport(std::move(s));
      threads.emplace_back([this, n] {
        to[n].thread = std::this_thread::get_id();
        EXPECT_NO_THROW(nodes[n]->start(to[n], clock::now() + patience));
      });
    }
    for (std::thread& t : threads) t.join();
    for (listener& l : to) l.thread = std::this_thread::get_id();
  }
  /// Begins a node with that settings.
  void start(node_id n, const std::function<void(tcp_settings&)>& change) {
    tcp_settings one = settings_of(n, static_cast<unsigned>(nodes.size()), at);
    one.survives_losses = true;
    change(one);
    nodes[n] = make_tcp_transport(std::move(one));
    to[n].thread = std::this_thread::get_id();
    EXPECT_NO_THROW(nodes[n]->start(to[n], clock::now() + patience));
  }
  /// Lets these nodes work until a node has got so many letters.
  void wait_for(node_id n, std::size_t letters, const std::vector<node_id>& living) {
    while (to[n].got.size() < letters)
      for (const node_id w : living) nodes[w]->wait(clock::now() + 1ms);
  }
  /// The nodes that a node has lost, in the order of their numbers.
  std::vector<node_id> lost(node_id n) const {
    std::vector<node_id> all;
    for (const letter& l : to[n].got)
      if (l.kind == "lost") all.push_back(l.from);
    std::ranges::sort(all);
    return all;
  }
};
using nodes = std::vector<node_id>;

TEST(tcp_survival, does_not_wait_for_nodes_that_have_ended) {
  survivors s(4);
  s.ended.add(2);
  s.meet({0, 1, 3});
  for (const node_id n : {0u, 1u, 3u}) EXPECT_EQ(s.lost(n), nodes{2}) << n;
  EXPECT_FALSE(s.nodes[1]->send(2, number(7)));
  EXPECT_TRUE(s.nodes[1]->send(3, number(7)));
  s.wait_for(3, 2, {1, 3});
  EXPECT_EQ(s.to[3].got.back().kind, "message");
}

// Only node 0 knows where the others are.
TEST(tcp_survival, lets_each_go_alone_when_node_0_does_not_come) {
  survivors s(3);
  close(std::exchange(s.at.socket, -1));
  s.ended.add(0);
  s.meet({1, 2});
  EXPECT_EQ(s.lost(1), (nodes{0, 2}));
  EXPECT_EQ(s.lost(2), (nodes{0, 1}));
}

// Its time for the meeting ends before that of node 0, which alone knows that node 2 does not come.
TEST(tcp_survival, waits_for_the_list_of_a_node_0_that_began_later) {
  survivors s(3);
  std::vector<std::thread> threads;
  for (const node_id n : {0u, 1u}) {
    tcp_settings one = settings_of(n, 3, s.at);
    one.survives_losses = true;
    one.ended_nodes = s.ended.file;
    one.heartbeat.period = 500s;
    s.nodes[n] = make_tcp_transport(std::move(one));
    threads.emplace_back([&s, n] {
      s.to[n].thread = std::this_thread::get_id();
      EXPECT_NO_THROW(s.nodes[n]->start(s.to[n], clock::now() + (n == 0 ? 3500ms : 3000ms)));
    });
  }
  for (std::thread& t : threads) t.join();
  for (listener& l : s.to) l.thread = std::this_thread::get_id();
  EXPECT_EQ(s.lost(0), nodes{2});
  EXPECT_EQ(s.lost(1), nodes{2});
  EXPECT_TRUE(s.nodes[1]->send(0, number(7)));
  s.wait_for(0, 2, {0, 1});
}

TEST(tcp_survival, ends_the_meeting_when_the_time_has_passed) {
  survivors s(2);
  tcp_settings own = settings_of(0, 2, s.at);
  own.survives_losses = true;
  s.nodes[0] = make_tcp_transport(std::move(own));
  s.to[0].thread = std::this_thread::get_id();
  EXPECT_EQ(s.nodes[0]->start(s.to[0], clock::now() + 10ms), 0u);
  EXPECT_EQ(s.lost(0), nodes{1});
}

// Going alone would hide what is wrong.
TEST(tcp_survival, refuses_another_token) {
  survivors s(2);
  std::thread first([&] { s.meet({0}); });
  tcp_settings other = settings_of(1, 2, s.at);
  other.survives_losses = true;
  other.token = "guessed";
  listener to;
  const auto stranger = make_tcp_transport(std::move(other));
  EXPECT_THROW(stranger->start(to, clock::now() + patience), start_failure);
  s.ended.add(1);
  first.join();
  EXPECT_EQ(s.lost(0), nodes{1});
}

TEST(tcp_survival, goes_on_when_connections_end) {
  survivors s(3);
  s.meet({0, 1, 2});
  s.nodes[0].reset();  // without stop
  for (const node_id n : {1u, 2u}) {
    s.wait_for(n, 1, {1, 2});
    EXPECT_EQ(s.lost(n), nodes{0}) << n;
  }
  EXPECT_TRUE(s.nodes[1]->send(2, number(7)));
  s.wait_for(2, 2, {1, 2});
  EXPECT_EQ(s.to[2].got.back().kind, "message");
}

TEST(tcp_survival, parts_from_a_node_that_is_silent) {
  survivors s(2);
  s.meet({0, 1}, 10ms);
  s.wait_for(0, 1, {0});  // no thread is in node 1's wait()
  EXPECT_EQ(s.lost(0), nodes{1});
  s.wait_for(1, 1, {1});
  EXPECT_EQ(s.lost(1), nodes{0}) << "it lives, and is alone from now on";
}

// The neighbours of node 2 are silent as well: others notice it.
TEST(tcp_survival, loses_a_silent_node_whose_neighbours_are_gone) {
  survivors s(8);
  s.meet({0, 1, 2, 3, 4, 5, 6, 7}, 10ms);
  s.wait_for(6, 5, {5, 6, 7});  // no thread is in the wait() of the others
  EXPECT_EQ(s.lost(6), (nodes{0, 1, 2, 3, 4}));
}

TEST(tcp_survival, learns_of_lost_nodes_while_it_meets) {
  survivors s(3);
  const listening at_1;  // accepts by its backlog only
  const auto quick = [](tcp_settings& one) { one.heartbeat.period = 50ms; };
  std::atomic<bool> has_met{false};
  std::thread first([&] {
    s.start(0, quick);
    while (!has_met) s.nodes[0]->wait(clock::now() + 1ms);
  });
  const silent_node one(connect_to(s.at.port), handshake::role::connector, 1, 3, at_1.port);
  s.start(2, quick);
  has_met = true;
  first.join();
  EXPECT_EQ(s.lost(0), nodes{1});
  EXPECT_EQ(s.lost(2), nodes{1});
  close(at_1.socket);
}

TEST(tcp_survival, does_not_wait_for_the_list_of_a_silent_node_0) {
  survivors s(3);
  std::thread other([&] { s.meet({1}, 20ms); });
  const silent_node zero(accept(s.at.socket, nullptr, nullptr), handshake::role::acceptor, 0, 3, s.at.port);
  other.join();
  EXPECT_EQ(s.lost(1), (nodes{0, 2}));
}

TEST(tcp_survival, goes_on_without_a_node_whose_host_it_does_not_know) {
  survivors s(3);
  const listening at_1;
  const auto patient = [](tcp_settings& one) {
    one.heartbeat.period = 500s;
    if (one.own.node == 0) one.addresses = {"127.0.0.1", std::string(70, 'x'), "127.0.0.1"};  // too long
  };
  std::thread first([&] { s.start(0, patient); });
  const silent_node one(connect_to(s.at.port), handshake::role::connector, 1, 3, at_1.port);
  s.start(2, patient);
  first.join();
  EXPECT_EQ(s.lost(2), nodes{1});
  EXPECT_EQ(s.lost(0), nodes{});
  close(at_1.socket);
}

TEST(tcp_survival, reports_nothing_when_it_is_destroyed) {
  survivors s(3);
  std::thread first([&] { s.meet({0}); });
  tcp_settings other = settings_of(1, 3, s.at);
  other.survives_losses = true;
  other.ended_nodes = s.ended.file;
  other.token = "guessed";
  listener to;
  auto stranger = make_tcp_transport(std::move(other));
  EXPECT_THROW(stranger->start(to, clock::now() + patience), start_failure);
  s.ended.add(2);
  std::this_thread::sleep_for(100ms);  // it would look once more; no verdict
  stranger.reset();
  EXPECT_TRUE(to.got.empty());
  s.ended.add(1);
  first.join();
}

}  // namespace
