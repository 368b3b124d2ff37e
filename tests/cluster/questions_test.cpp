// SPDX-License-Identifier: Apache-2.0
// Questions for results that a node lacks, on a network that the tests drive.
#include "hope/questions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace {

using namespace sukima::cluster;
using namespace sukima::cluster::hope;
using namespace std::chrono_literals;

constexpr result_name name{.entry = 1, .task = {.high = 1, .low = 5}};

/// Nodes that ask for one result.
class ring {
 public:
  explicit ring(unsigned nodes) : living(nodes, true), nodes_(nodes) {
    for (node_id n = 0; n < nodes; ++n) {
      nodes_[n].gone.resize(nodes);
      nodes_[n].asks = std::make_unique<questions>(
          nodes_[n].gone, [this, n](node_id to, const result_name&) { return send(n, to, true); });
      nodes_[n].asks->begin(n);
      nodes_[n].asks->begin_entry(name.entry);
    }
  }

  void ask(node_id n) {
    if (!nodes_[n].has) nodes_[n].asks->ask(name);
  }
  void compute(node_id n, bool sent_to_all) {
    nodes_[n].has = true;
    for (const node_id to : nodes_[n].asks->known(name, n))
      if (!sent_to_all) answer(n, to);
    for (node_id to = 0; sent_to_all && to < nodes_.size(); ++to)
      if (to != n && !nodes_[n].gone[to]) send(n, to, false);
  }
  /// \returns false: there is no room
  bool send(node_id from, node_id to, bool asks) {
    if (refuses.contains(to)) return false;
    if (asks) ++sent;
    on_the_way_.push_back({from, to, asks});
    return true;
  }
  void end_entry(node_id n) { nodes_[n].asks->end_entry(); }
  /// Lets one node notice the loss of another one. Nothing of that one arrives there afterwards.
  void notice(node_id n, node_id lost) {
    if (!living[n] || nodes_[n].gone[lost]) return;
    std::erase_if(on_the_way_, [&](const message& m) { return m.from == lost && m.to == n; });
    nodes_[n].gone[lost] = true;
    nodes_[n].asks->lose(lost);
  }
  /// Lets each node send again what was refused. \returns whether any had something to send
  bool try_again() {
    now_ += 1h;
    bool any = false;
    for (node_id n = 0; n < nodes_.size(); ++n) {
      if (!living[n] || nodes_[n].asks->next_try() > now_) continue;
      any = true;
      for (const questions::answer& a : nodes_[n].asks->try_again(now_)) answer(n, a.to);
    }
    return any;
  }
  /// Delivers the first message of one pair. \returns false: there is none
  bool deliver(std::uint64_t draw = 0) {
    if (on_the_way_.empty()) return false;
    auto chosen = on_the_way_.begin() + static_cast<std::ptrdiff_t>(draw % on_the_way_.size());
    chosen = std::ranges::find_if(
        on_the_way_, [&](const message& m) { return m.from == chosen->from && m.to == chosen->to; });
    const message m = *chosen;
    on_the_way_.erase(chosen);
    node& to = nodes_[m.to];
    if (!living[m.to] || to.gone[m.from]) return true;
    if (m.asks) {
      if (to.has)
        answer(m.to, m.from);
      else
        to.asks->asked_by(m.from, name);
    } else {
      ++results;
      to.has = true;
      for (const node_id asker : to.asks->known(name, m.from)) answer(m.to, asker);
    }
    return true;
  }
  void deliver_all() {
    while (deliver()) {
    }
  }
  bool has(node_id n) const { return nodes_[n].has; }

  std::vector<bool> living;
  unsigned sent = 0;  ///< questions
  unsigned results = 0;  ///< that have arrived
  std::set<node_id> refuses{};  ///< the nodes for which there is no room

 private:
  struct node {
    std::vector<bool> gone;
    std::unique_ptr<questions> asks;
    bool has = false;
  };
  struct message {
    node_id from;
    node_id to;
    bool asks;  ///< a question; else a result
  };
  void answer(node_id from, node_id to) {
    if (!send(from, to, false)) nodes_[from].asks->refused({to, name});
  }

  std::vector<node> nodes_;
  std::deque<message> on_the_way_;
  clock::time_point now_{};
};

TEST(questions, are_answered_by_one_node) {
  ring net(5);
  for (const node_id n : {1u, 2u, 4u}) net.compute(n, false);
  net.ask(0);
  net.deliver_all();
  EXPECT_TRUE(net.has(0));
  EXPECT_EQ(net.sent, 1u);
  EXPECT_EQ(net.results, 1u);
}

TEST(questions, pass_the_nodes_that_lack_the_result_once) {
  ring net(5);
  net.compute(4, false);
  net.ask(0);
  net.ask(2);
  net.deliver_all();
  for (node_id n = 0; n < 5; ++n) EXPECT_TRUE(net.has(n));
  EXPECT_EQ(net.sent, 4u);
  EXPECT_EQ(net.results, 4u);
}

TEST(questions, without_an_answer_come_to_an_end) {
  ring net(6);
  for (node_id n = 0; n < 6; ++n) net.ask(n);
  net.deliver_all();
  EXPECT_EQ(net.sent, 6u) << "one of each node";
  net.compute(3, false);
  net.deliver_all();
  for (node_id n = 0; n < 6; ++n) EXPECT_TRUE(net.has(n)) << "node " << n;
}

TEST(questions, are_answered_once_more_at_most_after_a_result_for_all) {
  ring net(4);
  for (node_id n = 0; n < 4; ++n) net.ask(n);
  net.deliver_all();
  net.compute(0, true);
  net.deliver_all();
  EXPECT_LE(net.results, 3u + 3u);
}

// Node 2 has got the result as an answer to something else. No other node gets it.
TEST(questions, are_answered_with_a_result_of_any_sender) {
  ring net(5);
  net.ask(0);
  net.deliver_all();
  net.send(4, 2, false);
  net.deliver_all();
  EXPECT_TRUE(net.has(0));
  EXPECT_TRUE(net.has(1));
}

TEST(questions, wait_for_room_at_the_only_node_with_the_result) {
  ring net(4);
  net.compute(1, false);
  net.refuses = {1};
  net.ask(0);
  net.deliver_all();
  net.try_again();
  net.deliver_all();
  EXPECT_FALSE(net.has(0));
  net.refuses = {};
  EXPECT_TRUE(net.try_again());
  net.deliver_all();
  EXPECT_TRUE(net.has(0));
  EXPECT_FALSE(net.try_again());
}

TEST(questions, of_others_wait_for_room_everywhere) {
  ring net(3);
  net.compute(2, false);
  net.ask(0);
  net.refuses = {0, 1, 2};
  net.deliver_all();
  net.refuses = {};
  net.try_again();
  net.deliver_all();
  EXPECT_TRUE(net.has(0));
}

TEST(questions, are_answered_when_there_is_room) {
  ring net(3);
  net.compute(1, false);
  net.ask(0);
  net.refuses = {0};
  net.deliver_all();
  net.try_again();
  EXPECT_FALSE(net.has(0));
  net.refuses = {};
  EXPECT_TRUE(net.try_again());
  net.deliver_all();
  EXPECT_TRUE(net.has(0));
  EXPECT_FALSE(net.try_again());
}

TEST(questions, wait_for_no_room_at_a_lost_node) {
  ring net(3);
  net.compute(1, false);
  net.refuses = {0};
  net.ask(0);
  net.deliver_all();
  net.living[0] = false;
  net.notice(1, 0);
  EXPECT_FALSE(net.try_again());
}

TEST(questions, are_not_asked_again_after_their_entry) {
  ring net(4);
  net.ask(0);
  net.deliver_all();
  net.end_entry(0);
  net.sent = 0;
  net.living[1] = false;
  net.notice(0, 1);
  EXPECT_EQ(net.sent, 0u);
}

TEST(questions, of_a_lost_node_are_not_asked_again) {
  ring net(4);
  net.ask(0);
  net.deliver_all();
  net.sent = 0;
  net.living[0] = false;
  net.notice(1, 0);
  net.living[2] = false;
  net.notice(1, 2);
  EXPECT_EQ(net.sent, 0u);
}

/// Node 0 of three, without a network. It counts its questions.
struct lone_node {
  std::vector<bool> gone = std::vector<bool>(3);
  unsigned sent = 0;
  questions asks{gone, [this](node_id, const result_name&) { return ++sent != 0; }};
};

TEST(questions, end_with_the_result_of_their_entry) {
  lone_node n;
  for (std::uint64_t low = 1; low <= 3; ++low) {
    n.asks.asked_by(1, {.entry = 5, .task = {.high = UINT64_MAX, .low = UINT64_MAX - low}});
    n.asks.asked_by(2, {.entry = 5, .task = {.high = 0, .low = low}});
  }
  n.asks.asked_by(2, {.entry = 4});
  n.asks.asked_by(2, {.entry = 6});
  n.sent = 0;
  EXPECT_EQ(n.asks.entry_known(5, 0), (std::vector<node_id>{1, 2}));
  EXPECT_EQ(n.asks.entry_known(5, 0), std::vector<node_id>{});
  n.gone[1] = true;
  n.asks.lose(1);
  EXPECT_EQ(n.sent, 2u) << "of entries 4 and 6";
}

TEST(questions, of_the_last_entry_of_all_end_alone) {
  lone_node n;
  n.asks.asked_by(2, {.entry = 1});
  n.asks.asked_by(1, {.entry = UINT64_MAX});
  EXPECT_EQ(n.asks.entry_known(UINT64_MAX, 0), std::vector<node_id>{1});
  EXPECT_EQ(n.asks.entry_known(1, 0), std::vector<node_id>{2});
}

TEST(questions, of_the_oldest_entry_are_forgotten_first) {
  lone_node n;
  n.asks.begin_entry(2);
  n.asks.asked_by(1, {.entry = 1});
  n.asks.ask({.entry = 2});
  n.asks.asked_by(2, {.entry = 2});
  for (std::uint64_t low = 2; low < 2 * questions::most; ++low)
    n.asks.asked_by(1, {.entry = 3, .task = {.high = 0, .low = low}});
  EXPECT_LE(n.sent, questions::most + 1);
  EXPECT_EQ(n.asks.known({.entry = 1}, 0), std::vector<node_id>{});
  EXPECT_EQ(n.asks.known({.entry = 2}, 0), std::vector<node_id>{2}) << "the node runs that entry";
}

TEST(questions, go_to_the_next_node_after_a_loss) {
  ring net(4);
  net.compute(2, false);
  net.ask(0);
  net.living[1] = false;
  net.deliver_all();
  EXPECT_FALSE(net.has(0));
  net.notice(0, 1);
  net.deliver_all();
  EXPECT_TRUE(net.has(0));
}

// The result of a lost node has reached some nodes, or is on its way to them. Some nodes have asked for it
// before. Another node dies as well. Each node notices that at another time, and asks then. At times there is
// no room for messages to a node.
TEST(questions, find_each_result_that_a_living_node_has) {
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    std::mt19937_64 draws(seed);
    const auto nodes = static_cast<unsigned>(3 + draws() % 5);
    ring net(nodes);
    std::vector<node_id> dying{static_cast<node_id>(draws() % nodes), static_cast<node_id>(draws() % nodes)};
    for (node_id n = 0; n < nodes; ++n)
      if (draws() % 4 == 0) net.ask(n);
    for (std::uint64_t steps = draws() % 8; steps > 0; --steps) net.deliver(draws());
    for (node_id to = 0; to < nodes; ++to)
      if (to != dying[0] && draws() % 3 == 0) net.send(dying[0], to, false);
    net.living[dying[0]] = false;
    std::vector<std::pair<node_id, node_id>> notices;
    for (const node_id lost : dying)
      for (node_id n = 0; n < nodes; ++n)
        if (n != lost) notices.emplace_back(n, lost);
    std::ranges::shuffle(notices, draws);
    while (!notices.empty()) {
      for (std::uint64_t steps = draws() % 4; steps > 0; --steps) net.deliver(draws());
      net.refuses = draws() % 2 == 0 ? std::set<node_id>{} : std::set{static_cast<node_id>(draws() % nodes)};
      net.try_again();
      const auto [n, lost] = notices.back();
      notices.pop_back();
      net.living[lost] = false;
      net.notice(n, lost);
      if (net.living[n]) net.ask(n);
    }
    net.refuses = {};
    do {
      while (net.deliver(draws())) {
      }
    } while (net.try_again());
    unsigned have = 0, living = 0;
    for (node_id n = 0; n < nodes; ++n) {
      living += net.living[n] ? 1 : 0;
      have += net.living[n] && net.has(n) ? 1 : 0;
    }
    ASSERT_TRUE(have == 0 || have == living) << "seed " << seed << ": " << have << " of " << living;
  }
}

}  // namespace
