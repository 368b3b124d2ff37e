// SPDX-License-Identifier: Apache-2.0
// A transport that takes no more messages for one node: the other nodes get theirs, also at the end.
#include "steal/outbox.hpp"
#include "support.hpp"
#include "transport_support.hpp"

#include <atomic>
#include <cstdlib>
#include <limits>
#include <set>

namespace {

using cluster_support::forwarding_transport;
using transport_support::listener;
using namespace sukima::cluster;
using namespace std::chrono_literals;
using sukima::call;

constexpr node_id hung = 1;
constexpr node_id slow = 2;
constexpr int for_now = std::numeric_limits<int>::max();

long seven() { return 7; }

/// Takes nothing for the node that hangs. The slow one makes progress, but gets its messages later.
class refusing_transport final : public forwarding_transport {
 public:
  /// \param refusals  for the slow node; `for_now`: until the node that hangs is given up
  refusing_transport(std::unique_ptr<transport> by, int refusals)
      : forwarding_transport(std::move(by)), refusals_(refusals) {}
  bool send(node_id to, bytes&& message) override {
    if (to == hung || refusals_ != 0) {
      if (to == slow && refusals_ != for_now) --refusals_;
      return false;
    }
    return forwarding_transport::send(to, std::move(message));
  }
  std::uint64_t taken_by(node_id to) override {
    if (to == hung) {
      looks_at_slow_ = 0;
      return 0;
    }
    if (++looks_at_slow_ == 2) refusals_ = 0;
    return ++progress_;
  }

 private:
  int refusals_;
  int looks_at_slow_ = 0;  ///< since the last one at the node that hangs
  std::uint64_t progress_ = 0;
};

/// Node 0 and the slow node. The one that hangs has met them.
class three_nodes {
 public:
  explicit three_nodes(int refusals) {
    std::thread others([this] { hanging_->start(ignored_, clock::now() + 500s); });
    slow_ = std::thread([this] { serve(); });
    node_ = std::make_unique<node>(workers_, std::make_unique<refusing_transport>(network_.join(0), refusals),
                                   node_options());
    others.join();
  }
  ~three_nodes() {
    end();
    EXPECT_EQ(results(), 2);
  }
  three_nodes(const three_nodes&) = delete;
  three_nodes& operator=(const three_nodes&) = delete;
  void run_two_entries() const {
    for (int entry = 0; entry < 2; ++entry) {
      sukima::detail::cluster_entry_of called(call<seven>());
      node_->run(called);
    }
  }
  /// How many results of entries the slow node has got.
  int results() const { return results_; }

 private:
  void end() {
    node_.reset();
    slow_.join();
  }
  void serve() {
    const auto self = network_.join(slow);
    listener to;
    to.thread = std::this_thread::get_id();
    to.answer = [this](node_id /*from*/, byte_view content) {
      if (read_message(content).value().kind == message_kind::entry) ++results_;
    };
    self->start(to, clock::now() + 500s);
    while (to.count("left") == 0) self->wait(clock::now() + 500s);
    self->stop(1s);
  }

  in_process_network network_{{.nodes = 3}};
  const std::unique_ptr<transport> hanging_ = network_.join(hung);
  listener ignored_;
  std::atomic<int> results_{0};
  sukima::runtime workers_{cluster_support::settings_of({})};
  std::thread slow_;
  std::unique_ptr<node> node_;
};

TEST(refusal, of_one_node_delays_no_other) {
  const three_nodes nodes(3);
  nodes.run_two_entries();
  while (nodes.results() != 2) std::this_thread::yield();
}

TEST(refusal, of_one_node_drops_nothing_for_another_at_the_end) {
  const three_nodes nodes(for_now);
  nodes.run_two_entries();
}

/// A transport of node 0 of three that refuses what it is asked to refuse.
class recording_transport final : public forwarding_transport {
 public:
  using forwarding_transport::forwarding_transport;
  bool send(node_id to, bytes&& message) override {
    if (refused.contains(to)) return false;
    sent.emplace_back(to, read_message(message).value().request);
    return true;
  }
  std::set<node_id> refused{hung};
  std::vector<std::pair<node_id, std::uint64_t>> sent;  ///< numbers of requests
};

TEST(refusal, keeps_the_order_for_each_node) {
  in_process_network network({.nodes = 3});
  recording_transport by(network.join(0));
  outbox tested(by, 3);
  const auto send = [&](node_id to, std::uint64_t number, message_kind kind = message_kind::none) {
    tested.send(to, {.kind = kind, .request = number});
  };
  send(hung, 1);
  by.refused = {};
  send(hung, 2);
  send(slow, 3);
  EXPECT_EQ(by.sent, (std::vector<std::pair<node_id, std::uint64_t>>{{slow, 3}}));
  EXPECT_EQ(tested.count(hung), 2u);
  tested.send_waiting();
  EXPECT_EQ(by.sent, (std::vector<std::pair<node_id, std::uint64_t>>{{slow, 3}, {hung, 1}, {hung, 2}}));
  EXPECT_TRUE(tested.empty());
  by.refused = {hung};
  send(hung, 4);
  EXPECT_FALSE(tested.owes(hung));
  send(hung, 5, message_kind::result);
  EXPECT_TRUE(tested.owes(hung));
  EXPECT_FALSE(tested.owes(slow));
  by.refused = {};
  tested.close(hung);
  send(hung, 6);
  tested.open(hung);
  send(hung, 7);
  EXPECT_EQ(by.sent.size(), 4u);
  EXPECT_EQ(by.sent.back().second, 7u);
}

constexpr int status_wrong = 3;

/// Lets its node, which is node 1, meet a newcomer that hangs, and asks it to leave.
class leaving_transport final : public forwarding_transport {
 public:
  using forwarding_transport::forwarding_transport;
  void wait(sukima::cluster::clock::time_point until) override {
    forwarding_transport::wait(until);
    if (std::exchange(is_asked_, true)) return;
    on_joined(slow);
    on_leave_request();
  }
  bool send(node_id to, bytes&& message) override {
    return to != slow && forwarding_transport::send(to, std::move(message));
  }

 private:
  bool is_asked_ = false;
};

void leaves_beside_a_newcomer_that_hangs() {
  in_process_network network({.nodes = 3});
  const auto node_0 = network.join(0);
  const auto newcomer = network.join(slow);
  listener ignored;
  std::thread first([&] { node_0->start(ignored, clock::now() + 500s); });
  std::thread second([&] { newcomer->start(ignored, clock::now() + 500s); });
  sukima::runtime workers(cluster_support::settings_of({}));
  node_options options;
  options.on_own_leaving = [](const traffic&) { std::_Exit(0); };
  options.on_failure = [](const run_failure&) { std::_Exit(status_wrong); };
  node tested(workers, std::make_unique<leaving_transport>(network.join(1)), std::move(options));
  first.join();
  second.join();
  sukima::detail::cluster_entry_of called(call<seven>());
  tested.run(called);
}

TEST(refusal_death_test, of_a_newcomer_keeps_no_node_from_leaving) {
  GTEST_FLAG_SET(death_test_style, SUKIMA_DEATH_TEST_STYLE);
  EXPECT_EXIT(leaves_beside_a_newcomer_that_hangs(), testing::ExitedWithCode(0),
              "will leave when it has finished");
}

}  // namespace
