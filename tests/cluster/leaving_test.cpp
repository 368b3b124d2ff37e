// SPDX-License-Identifier: Apache-2.0
// Node 0 leaves while another node needs it: that one ends, whether it is inside an entry or begins one
// later.
#include "support.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <latch>
#include <thread>
#include <utility>

namespace {

using namespace cluster_support;
using namespace sukima::cluster;
using sukima::call;

long seven() { return 7; }

/// A transport that records what its node has sent and received.
class watched final : public forwarding_transport {
 public:
  using forwarding_transport::forwarding_transport;
  /// Returns once the node was notified that another one left, and has done all that it does then. Any
  /// thread.
  void wait_for_leaving() { left_.wait(); }
  /// Returns once the node has sent something. Any thread.
  void wait_for_message() { sent_.wait(); }

  bool send(node_id to, bytes&& message) override {
    const bool taken = forwarding_transport::send(to, std::move(message));
    if (!std::exchange(has_sent_, true)) sent_.count_down();
    return taken;
  }
  void wait(sukima::cluster::clock::time_point until) override {
    if (std::exchange(was_notified_, false)) left_.count_down();
    forwarding_transport::wait(until);
  }

 private:
  void on_left(node_id node) override {
    forwarding_transport::on_left(node);
    was_notified_ = true;
  }

  // For the cluster thread.
  bool has_sent_ = false;
  bool was_notified_ = false;  ///< that another one left, in the wait before
  std::latch left_{1};
  std::latch sent_{1};
};

/// Two nodes, of which node 0 makes no entry and leaves. The process ends as one that has lost a node; one
/// that hangs is killed.
class pair_of_nodes {
 public:
  pair_of_nodes() {
    alarm(500);
    auto at_node_1 = std::make_unique<watched>(network_.join(1));
    watched_ = at_node_1.get();
    std::thread other([&] { nodes_[0] = made(runtime_0_, network_.join(0)); });
    nodes_[1] = made(runtime_1_, std::move(at_node_1));
    other.join();
  }
  void leave() { nodes_[0].reset(); }
  void wait_for_leaving() { watched_->wait_for_leaving(); }
  void wait_for_message() { watched_->wait_for_message(); }
  void begin_entry() {
    sukima::detail::cluster_entry_of entry(call<seven>());
    nodes_[1]->run(entry);
  }

 private:
  static std::unique_ptr<node> made(sukima::runtime& workers, std::unique_ptr<transport> by) {
    node_options options;
    options.on_failure = [](const run_failure& why) {
      std::fprintf(stderr, "%s\n", why.sentence.c_str());
      std::_Exit(75);
    };
    return std::make_unique<node>(workers, std::move(by), std::move(options));
  }

  in_process_network network_{{.nodes = 2}};
  sukima::runtime runtime_0_{settings_of({})};
  sukima::runtime runtime_1_{settings_of({})};
  watched* watched_ = nullptr;
  std::unique_ptr<node> nodes_[2];
};

void begins_an_entry_after_node_0_has_left() {
  pair_of_nodes nodes;
  nodes.leave();
  nodes.wait_for_leaving();
  nodes.begin_entry();
}

void is_in_an_entry_when_node_0_leaves() {
  pair_of_nodes nodes;
  std::thread entry([&] { nodes.begin_entry(); });
  nodes.wait_for_message();  // it asks for a task of its entry
  nodes.leave();
  entry.join();
}

class leaving_death_test : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, SUKIMA_DEATH_TEST_STYLE); }
};

TEST_F(leaving_death_test, a_node_that_begins_an_entry_after_node_0_has_left_ends) {
  EXPECT_EXIT(begins_an_entry_after_node_0_has_left(), testing::ExitedWithCode(75),
              "node 0 ended its program before entry 1 ended");
}

TEST_F(leaving_death_test, a_node_that_is_in_an_entry_when_node_0_leaves_ends) {
  EXPECT_EXIT(is_in_an_entry_when_node_0_leaves(), testing::ExitedWithCode(75),
              "node 0 ended its program before entry 1 ended");
}

std::latch began{1};
std::latch tried{1};
long waits() {
  began.count_down();
  tried.wait();
  return 7;
}

/// Ends the process, with status 0 if one of two entries at a time was refused.
[[noreturn]] void makes_two_entries_at_a_time() {
  setenv("SUKIMA_CLUSTER_NODES", "1", 1);
  setenv("SUKIMA_CLUSTER_NODE", "0", 1);
  setenv("SUKIMA_CLUSTER_ADDRESS", "127.0.0.1:0", 1);
  std::thread first([] { EXPECT_EQ(sukima::cluster::run(call<waits>()), 7); });
  began.wait();
  EXPECT_THROW(sukima::cluster::run(call<seven>()), sukima::usage_error);
  tried.count_down();
  first.join();
  EXPECT_EQ(sukima::cluster::run(call<seven>()), 7);
  std::exit(testing::Test::HasFailure() ? 1 : 0);
}

// In a process of its own: a process reads once, before its first entry, whether it is a node.
TEST(entries_death_test, of_two_threads_at_a_time_are_refused) {
  GTEST_FLAG_SET(death_test_style, SUKIMA_DEATH_TEST_STYLE);
  EXPECT_EXIT(makes_two_entries_at_a_time(), testing::ExitedWithCode(0), "");
}

}  // namespace
