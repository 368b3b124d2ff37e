// SPDX-License-Identifier: Apache-2.0
// Questions for results that a node lacks, on a network that the tests drive.
#include "hope/questions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace {

using namespace sukima::cluster;
using namespace sukima::cluster::hope;

constexpr result_name name{.entry = 1, .task = {.high = 1, .low = 5}};

/// Nodes that ask for one result.
class ring {
 public:
  explicit ring(unsigned nodes) : living(nodes, true), nodes_(nodes) {
    for (node_id n = 0; n < nodes; ++n) {
      nodes_[n].gone.resize(nodes);
      nodes_[n].asks = std::make_unique<questions>(nodes_[n].gone, [this, n](node_id to, const result_name&) {
        if (to == refuses) return false;
        ++sent;
        on_the_way_.push_back({n, to, true});
        return true;
      });
      nodes_[n].asks->begin(n);
    }
  }

  void ask(node_id n) {
    if (!nodes_[n].has) nodes_[n].asks->ask(name);
  }
  void compute(node_id n, bool sent_to_all) {
    nodes_[n].has = true;
    pass_on(n, nodes_[n].asks->computed(name, sent_to_all));
    for (node_id to = 0; sent_to_all && to < nodes_.size(); ++to)
      if (to != n && !nodes_[n].gone[to]) send_result(n, to);
  }
  void send_result(node_id from, node_id to) { on_the_way_.push_back({from, to, false}); }
  void gain(node_id joined) {
    for (const node& n : nodes_) n.asks->gain(joined);
  }
  /// Lets one node notice the loss of another one. Nothing of that one arrives there afterwards.
  void notice(node_id n, node_id lost) {
    if (!living[n] || nodes_[n].gone[lost]) return;
    std::erase_if(on_the_way_, [&](const message& m) { return m.from == lost && m.to == n; });
    nodes_[n].gone[lost] = true;
    for (const questions::answer& a : nodes_[n].asks->lose(lost)) send_result(n, a.to);
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
        send_result(m.to, m.from);
      else
        to.asks->asked_by(m.from, name);
    } else {
      ++results;
      if (!std::exchange(to.has, true)) pass_on(m.to, to.asks->received(name, m.from));
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
  std::optional<node_id> refuses{};  ///< the node for which there is no room

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
  void pass_on(node_id from, const std::vector<node_id>& to) {
    for (const node_id n : to) send_result(from, n);
  }

  std::vector<node> nodes_;
  std::deque<message> on_the_way_;
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

TEST(questions, are_not_answered_again_after_a_result_for_all) {
  ring net(4);
  for (node_id n = 0; n < 4; ++n) net.ask(n);
  net.deliver_all();
  net.compute(0, true);
  net.deliver_all();
  EXPECT_LE(net.results, 3u + 1u) << "only the node that has asked the origin regards it as an answer";
}

TEST(questions, of_a_node_that_has_joined_are_answered_in_any_case) {
  ring net(4);
  net.gain(3);
  net.ask(3);
  net.deliver_all();
  net.send_result(2, 0);  // node 2 does not know node 3 yet
  net.deliver_all();
  EXPECT_TRUE(net.has(3));
}

TEST(questions, go_to_the_next_node_if_the_first_refuses) {
  ring net(4);
  net.compute(1, false);
  net.compute(2, false);
  net.refuses = 1;
  net.ask(0);
  net.deliver_all();
  EXPECT_TRUE(net.has(0));
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

// The result of a lost node has reached some nodes, or is on its way to them. Another node dies as well. Each
// node notices that at another time, and asks then.
TEST(questions, find_each_result_that_a_living_node_has) {
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    std::mt19937_64 draws(seed);
    const auto nodes = static_cast<unsigned>(3 + draws() % 5);
    ring net(nodes);
    std::vector<node_id> dying{static_cast<node_id>(draws() % nodes), static_cast<node_id>(draws() % nodes)};
    for (node_id to = 0; to < nodes; ++to)
      if (to != dying[0] && draws() % 3 == 0) net.send_result(dying[0], to);
    net.living[dying[0]] = false;
    std::vector<std::pair<node_id, node_id>> notices;
    for (const node_id lost : dying)
      for (node_id n = 0; n < nodes; ++n)
        if (n != lost) notices.emplace_back(n, lost);
    std::ranges::shuffle(notices, draws);
    while (!notices.empty()) {
      for (std::uint64_t steps = draws() % 4; steps > 0; --steps) net.deliver(draws());
      const auto [n, lost] = notices.back();
      notices.pop_back();
      net.living[lost] = false;
      net.notice(n, lost);
      if (net.living[n]) net.ask(n);
    }
    while (net.deliver(draws())) {
    }
    unsigned have = 0, living = 0;
    for (node_id n = 0; n < nodes; ++n) {
      living += net.living[n] ? 1 : 0;
      have += net.living[n] && net.has(n) ? 1 : 0;
    }
    ASSERT_TRUE(have == 0 || have == living) << "seed " << seed << ": " << have << " of " << living;
  }
}

}  // namespace
