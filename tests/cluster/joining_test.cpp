// SPDX-License-Identifier: Apache-2.0
// Nodes that join over TCP while others run, and the answer that gives them their number.
#include "entry/environment.hpp"
#include "hope/entry_results.hpp"
#include "transport/tcp_place.hpp"
#include "transport_support.hpp"

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <variant>

namespace {

using namespace transport_support;

/// Two nodes of a run with room for two more, each with a thread that waits for messages.
class running_nodes {
 public:
  running_nodes() {
    for (node_id n = 0; n < 2; ++n)
      threads_.emplace_back([this, n] {
        tcp_settings s = settings_of(n, 4, at_);
        s.room = 2;
        s.survives_losses = true;
        const auto self = make_tcp_transport(std::move(s));
        watcher& to = watchers_[n];
        EXPECT_EQ(self->start(to, clock::now() + patience), n);
        EXPECT_TRUE(self->can().takes_joins);
        while (!ends_) {
          self->wait(clock::now() + 1ms);
          if (const int joined = to.joined.exchange(-1); joined >= 0)
            self->send(static_cast<node_id>(joined), number(n));
        }
        self->stop(1s);
      });
  }
  ~running_nodes() {
    ends_ = true;
    for (std::thread& t : threads_) t.join();
  }
  running_nodes(const running_nodes&) = delete;
  running_nodes& operator=(const running_nodes&) = delete;

  tcp_settings joining() const {
    tcp_settings s = settings_of(1, 4, at_);
    s.own.nodes = s.own.node = 0;
    s.survives_losses = true;
    return s;
  }

 private:
  struct watcher final : receiver {
    std::atomic<int> joined{-1};
    void on_message(node_id, byte_view) override {}
    void on_joined(node_id node) override { joined = static_cast<int>(node); }
    void on_left(node_id) override {}
    void on_lost(node_id, const std::string&) override {}
  };
  listening at_;
  std::atomic<bool> ends_{false};
  std::array<watcher, 2> watchers_;
  std::vector<std::thread> threads_;
};

TEST(joining, meets_all_nodes_of_the_run) {
  const running_nodes run;
  for (const node_id expected : {2u, 3u}) {
    tcp_settings s = run.joining();
    const place given = ask_for_place(s, clock::now() + patience);
    EXPECT_EQ(given.node, expected);
    EXPECT_EQ(given.nodes, 4u);
    EXPECT_EQ(given.room, 2u);
    EXPECT_EQ(given.sponsor, 0u);
    s.own.nodes = given.nodes;
    s.own.node = given.node;
    s.room = given.room;
    s.sponsor = given.sponsor;
    const auto self = make_tcp_transport(std::move(s));
    listener to;
    to.thread = std::this_thread::get_id();
    EXPECT_EQ(self->start(to, clock::now() + patience), expected);
    while (to.count("message") < 2) self->wait(clock::now() + 1ms);
    for (const letter& l : to.got) {
      if (l.what == "message") {
        EXPECT_EQ(number_of(l.content), l.from);
      }
    }
    self->stop(1s);
  }
  try {
    ask_for_place(run.joining(), clock::now() + patience);
    ADD_FAILURE() << "there is no place";
  } catch (const start_failure& failure) {
    EXPECT_EQ(std::string(failure.what()),
              "all 2 places for nodes that join are taken: start the run with a larger --room");
  }
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
                             place{.nodes = 7, .room = 3, .node = 5, .sponsor = 5}})  // the node itself
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
  hope::entry_results kept(3, 100);
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

}  // namespace
