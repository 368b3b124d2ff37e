// SPDX-License-Identifier: Apache-2.0
// Nodes that join over TCP while others run, and the answer that gives them their number.
#include "entry/environment.hpp"
#include "hope/entry_results.hpp"
#include "joining_support.hpp"

#include <sys/resource.h>

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>

namespace {

using namespace joining_support;

/// Two nodes of a run with room for two more.
struct running_nodes {
  listening at;
  running_node first;
  running_node second;
  explicit running_nodes(unsigned results = 0)
      : first(running(0, 4, 2, at), results), second(running(1, 4, 2, at)) {}
};

/// Joins a run, and waits until both of its nodes have sent their numbers.
void join(const running_nodes& run, const place& given) {
  const auto self = make_tcp_transport(with_place(asking(run.at.port), given));
  listener to;
  to.thread = std::this_thread::get_id();
  EXPECT_EQ(self->start(to, clock::now() + patience), given.node);
  const auto has_number = [&](node_id of) {
    return std::ranges::any_of(to.got, [of](const letter& l) {
      return l.kind == "message" && l.from == of && l.content == number(of);
    });
  };
  while (!has_number(0) || !has_number(1)) self->wait(clock::now() + 1ms);
  self->stop(1s);
}

TEST(joining, meets_all_nodes_of_the_run) {
  const running_nodes run;
  for (const node_id expected : {2u, 3u}) {
    const place given = ask_at(run.at.port);
    EXPECT_EQ(given.node, expected);
    EXPECT_EQ(given.nodes, 4u);
    EXPECT_EQ(given.room, 2u);
    EXPECT_EQ(given.sponsor, 0u);
    join(run, given);
  }
  try {
    ask_at(run.at.port);
    ADD_FAILURE() << "there is no place";
  } catch (const start_failure& failure) {
    EXPECT_EQ(std::string(failure.what()),
              "all 2 places for nodes that join are taken: start the run with a larger --room");
  }
}

TEST(joining, gets_the_list_behind_many_results) {
  const running_nodes run(6);
  join(run, ask_at(run.at.port));
}

TEST(joining, continues_with_the_numbers_of_a_node_that_has_ended) {
  const listening at;
  auto first = std::make_unique<running_node>(running(0, 5, 4, at));
  first->wait_until_met();
  const place early = ask_at(at.port);
  EXPECT_EQ(early.node, 1u);
  running_node(with_place(asking(at.port), early)).wait_until_met();  // it leaves
  const std::set<std::uint16_t> before = listening_ports();
  const running_node next(with_place(asking(at.port), ask_at(at.port)));
  next.wait_until_met();
  EXPECT_EQ(ask_at(at.port).node, 3u);  // that one does not come
  std::set<std::uint16_t> there = listening_ports();
  for (const std::uint16_t port : before) there.erase(port);
  ASSERT_EQ(there.size(), 1u);
  first.reset();
  next.wait_until_left(0);
  const place late = ask_at(*there.begin());
  EXPECT_EQ(late.sponsor, 2u);
  EXPECT_EQ(late.node, 4u) << "that of no other process";
  running_node(with_place(asking(*there.begin()), late)).wait_until_met();
}

TEST(joining, leaves_the_place_of_a_process_that_has_gone) {
  const listening at;
  const running_node first(running(0, 3, 1, at));
  {
    const silent_node asks(connect_to(at.port), handshake::role::connector, 0, 0, 0, true);
  }
  const running_node second(running(1, 3, 1, at));  // the meeting ends
  EXPECT_EQ(ask_at(at.port).node, 2u);
}

TEST(joining, does_not_go_on_alone_without_a_list) {
  const listening at;
  const place given{.nodes = 4, .room = 3, .node = 2, .sponsor = 0};
  std::thread sponsor([&at] {
    const int taken = accept(at.socket, nullptr, nullptr);
    const silent_node ends(taken, handshake::role::acceptor, 0, 4, at.port, true);
    close(at.socket);
  });
  for (int attempt = 0; attempt < 2; ++attempt) {  // the second time none listens
    try {
      listener to;
      to.thread = std::this_thread::get_id();
      make_tcp_transport(with_place(asking(at.port), given))->start(to, clock::now() + patience);
      ADD_FAILURE() << "it goes on";
    } catch (const start_failure& failure) {
      EXPECT_EQ(std::string(failure.what()),
                "node 0 at 127.0.0.1:" + std::to_string(at.port) +
                    " gave this node its number, and then ended or refused it: join again");
    }
    if (sponsor.joinable()) sponsor.join();
  }
}

TEST(joining, keeps_a_node_that_joined_after_its_list_was_made) {
  const listening at;
  std::atomic<bool> has_come{false};
  std::thread others([&] {
    const int taken = accept(at.socket, nullptr, nullptr);
    silent_node sponsor(taken, handshake::role::acceptor, 0, 4, at.port, true);
    silent_node later(connect_to(sponsor.port_of_other()), handshake::role::connector, 2, 4, 9, true);
    while (!has_come) std::this_thread::yield();
    // The list is older: it has no node but its receiver.
    sponsor.say({frame_kind::members, bytes(std::size_t{3} * 4)});
    later.say({frame_kind::data, number(2)});
    while (has_come) std::this_thread::yield();
  });
  struct waiting final : receiver {
    std::atomic<bool>& has_come;
    bool has_message = false;
    explicit waiting(std::atomic<bool>& set) : has_come(set) {}
    void on_message(node_id from, byte_view) override { has_message = from == 2; }
    void on_joined(node_id) override { has_come = true; }
    void on_left(node_id node) override { EXPECT_FALSE(has_come && node == 2); }
    void on_lost(node_id, const std::string&) override {}
  } to(has_come);
  tcp_settings s = with_place(asking(at.port), place{.nodes = 4, .room = 3, .node = 1, .sponsor = 0});
  s.heartbeat.silent_beats = 0;
  const auto self = make_tcp_transport(std::move(s));
  self->start(to, clock::now() + patience);
  while (!to.has_message) self->wait(clock::now() + 1ms);
  has_come = false;
  others.join();
  close(at.socket);
}

TEST(joining, works_while_it_has_no_descriptor_for_a_connection) {
  const listening at;
  const auto self = make_tcp_transport(running(0, 2, 1, at));
  listener to;
  to.thread = std::this_thread::get_id();
  self->start(to, clock::now() + patience);
  const int stranger = ::socket(AF_INET, SOCK_STREAM, 0);
  rlimit usual{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &usual), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = usual.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  connect_by(stranger, at.port);
  for (int turns = 0; turns < 3; ++turns) self->wait(clock::now() + 60ms);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &usual), 0);
  close(stranger);
  self->stop(1s);
}

TEST(joining, answers_survive_as_bytes) {
  const place given{.nodes = 7, .room = 3, .node = 5, .sponsor = 1};
  const auto read = std::get<place>(read_place(write_place(given)));
  EXPECT_EQ(read.nodes, 7u);
  EXPECT_EQ(read.room, 3u);
  EXPECT_EQ(read.node, 5u);
  EXPECT_EQ(read.sponsor, 1u);
  EXPECT_EQ(std::get<std::string>(read_place(write_place(std::string("no")))), "no");
}

TEST(joining, refuses_damaged_answers) {
  for (const place& wrong : {place{.nodes = 7, .room = 3, .node = 3, .sponsor = 1},   // not in the room
                             place{.nodes = 7, .room = 3, .node = 7, .sponsor = 1},   // no such node
                             place{.nodes = 7, .room = 7, .node = 5, .sponsor = 1},   // no node gives it
                             place{.nodes = 7, .room = 3, .node = 5, .sponsor = 5},   // the node itself
                             place{.nodes = 7, .room = 3, .node = 5, .sponsor = 6},   // a later one
                             place{.nodes = 1025, .room = 1024, .node = 5, .sponsor = 0}})  // too many
    EXPECT_THROW(read_place(write_place(wrong)), frame_error);
  bytes whole = write_place(place{.nodes = 7, .room = 3, .node = 5, .sponsor = 1});
  whole.push_back(std::byte{0});
  EXPECT_THROW(read_place(whole), frame_error);
  whole.resize(whole.size() - 2);
  EXPECT_THROW(read_place(whole), frame_error);
  EXPECT_THROW(read_place({}), frame_error);
}

std::map<std::string, std::string> variables;
const char* variable(const char* name) {
  const auto found = variables.find(name);
  return found != variables.end() ? found->second.c_str() : nullptr;
}

TEST(joining, is_read_from_the_environment) {
  variables = {{variable_join, "host.example:4711"}, {variable_hope, "1"}};
  const auto s = read_environment(variable);
  ASSERT_TRUE(s);
  EXPECT_TRUE(s->own.asks_for_place());
  EXPECT_EQ(s->host, "host.example");
  EXPECT_EQ(s->port, 4711);
  EXPECT_TRUE(s->survives_losses);
  variables[variable_ended] = "7";  // of the run of a node that starts this process
  EXPECT_EQ(read_environment(variable)->ended_nodes, -1);
  variables[variable_join] = "[::1]:4711";
  EXPECT_EQ(read_environment(variable)->host, "::1");
  EXPECT_EQ(read_environment(variable)->port, 4711);
  variables[variable_join] = "host.example:0";
  EXPECT_THROW(read_environment(variable), start_failure);
  // A run that a node starts is another one.
  variables = {
      {variable_join, "a:1"}, {variable_nodes, "2"}, {variable_node, "1"}, {variable_address, "b:2"}};
  EXPECT_EQ(read_environment(variable)->host, "b");
  EXPECT_EQ(read_environment(variable)->room, 0u);
  variables[variable_room] = "3";
  EXPECT_EQ(read_environment(variable)->room, 3u);
  EXPECT_EQ(read_environment(variable)->own.nodes, 5u) << "the room has numbers, too";
  variables[variable_room] = "1023";
  EXPECT_THROW(read_environment(variable), start_failure);
}

hope::entry_value value_of(std::size_t size) { return {.from = 0, .content = bytes(size), .solutions = {}}; }

TEST(joining, keeps_the_last_results_of_entries) {
  hope::entry_results kept(3, 3 * hope::entry_results::overhead + 100);
  for (std::uint64_t entry = 1; entry <= 6; ++entry) {
    kept.begin_entry(entry);
    kept.put(entry, value_of(10));
  }
  kept.begin_entry(7);
  EXPECT_EQ(kept.all().size(), 3u);
  EXPECT_EQ(kept.find(3), nullptr);
  ASSERT_NE(kept.find(4), nullptr);
  kept.put(6, value_of(90));  // replaces it
  kept.put(9, value_of(90));  // of an entry to come
  kept.begin_entry(8);
  EXPECT_EQ(kept.find(5), nullptr) << "the oldest ones make room";
  ASSERT_NE(kept.find(9), nullptr) << "that entry has not begun";
  kept.remove(9);
  EXPECT_EQ(kept.find(9), nullptr);
}

// The other nodes may be far ahead of one whose program computes long between its entries.
TEST(joining, keeps_few_results_of_entries_to_come) {
  constexpr std::size_t most = 10 * (hope::entry_results::overhead + 100);
  hope::entry_results kept(3, most);
  kept.begin_entry(1);
  kept.put(1, value_of(100));
  for (std::uint64_t entry = 2; entry <= 1000; ++entry) kept.put(entry, value_of(100));
  EXPECT_EQ(kept.all().size(), 10u);
  EXPECT_NE(kept.find(2), nullptr) << "the results that are needed first stay";
  kept.put(2, value_of(2 * most));
  EXPECT_NE(kept.find(2), nullptr) << "that of the next entry stays, however long it is";
  EXPECT_EQ(kept.all().size(), 2u);
}

}  // namespace
