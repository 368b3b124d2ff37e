// SPDX-License-Identifier: Apache-2.0
// Several nodes in one process. Each has a runtime, and its own thread makes the calls of main.
#pragma once

#include "in_process_network.hpp"
#include "invariants/at_rest.hpp"
#include "protocol/messages.hpp"
#include "steal/node.hpp"

#include <sukima/cluster.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace cluster_support {

using namespace std::chrono_literals;

struct shape {
  unsigned nodes = 4;
  unsigned workers = 1;  ///< of each node
  unsigned published = 3;
  std::uint64_t seed = 1;
  std::chrono::microseconds longest_delay{200};
  bool is_sparse = false;  ///< as in transport_limits
};

/// The node for which a thread works.
inline thread_local unsigned own_node = 0;

/// \param node  the node of the workers
inline sukima::settings settings_of(const shape& s, unsigned node = 0) {
  sukima::settings chosen;
  chosen.workers = s.workers;
  chosen.elastic = false;
  chosen.published_tasks = s.published;
  chosen.on_worker_start = [node](int) { own_node = node; };
  return chosen;
}

/// A transport that forwards everything to another one. Tests derive from it to observe the messages.
class forwarding_transport : public sukima::cluster::transport, protected sukima::cluster::receiver {
 public:
  explicit forwarding_transport(std::unique_ptr<sukima::cluster::transport> by) : by_(std::move(by)) {}

  sukima::cluster::node_id start(receiver& to, sukima::cluster::clock::time_point deadline) override {
    to_ = &to;
    return by_->start(*this, deadline);
  }
  unsigned nodes() const noexcept override { return by_->nodes(); }
  bool send(sukima::cluster::node_id to, sukima::cluster::bytes&& message) override {
    return by_->send(to, std::move(message));
  }
  void wait(sukima::cluster::clock::time_point until) override { by_->wait(until); }
  void ring() noexcept override { by_->ring(); }
  sukima::cluster::transport_limits can() const noexcept override { return by_->can(); }
  std::uint64_t taken_by(sukima::cluster::node_id to) override { return by_->taken_by(to); }
  void stop(std::chrono::milliseconds patience) noexcept override { by_->stop(patience); }

 protected:
  void on_message(sukima::cluster::node_id from, sukima::cluster::byte_view message) override {
    to_->on_message(from, message);
  }
  void on_left(sukima::cluster::node_id node) override { to_->on_left(node); }
  void on_lost(sukima::cluster::node_id node, const std::string& why) override { to_->on_lost(node, why); }
  void on_leave_request() override { to_->on_leave_request(); }
  void on_joined(sukima::cluster::node_id node) override { to_->on_joined(node); }
  std::string obstacle_to_joining() override { return to_->obstacle_to_joining(); }

 private:
  const std::unique_ptr<sukima::cluster::transport> by_;
  receiver* to_ = nullptr;
};

/// A transport that detects the first best solution of another node.
class solution_watch final : public forwarding_transport {
 public:
  using forwarding_transport::forwarding_transport;
  /// Returns after the node has received a best solution and has handled it. Any thread may call this.
  void wait_for_solution() { got_.wait(); }

 private:
  void on_message(sukima::cluster::node_id from, sukima::cluster::byte_view message) override {
    forwarding_transport::on_message(from, message);
    const auto m = sukima::cluster::read_message(message);
    if (!m || m->kind != sukima::cluster::message_kind::best || std::exchange(has_got_, true)) return;
    got_.count_down();
  }

  bool has_got_ = false;  ///< only for the cluster thread
  std::latch got_{1};
};

/// Nodes that use the in-process transport. Each test calls `everywhere`, which is their main.
class nodes_in_process {
 public:
  /// \param boards  the boards of the nodes' best solutions; a missing one is the board of the process
  explicit nodes_in_process(const shape& s, std::vector<sukima::detail::solution_board*> boards = {})
      : network_(
            {.nodes = s.nodes, .seed = s.seed, .longest_delay = s.longest_delay, .is_sparse = s.is_sparse}) {
    for (unsigned i = 0; i < s.nodes; ++i)
      runtimes_.push_back(std::make_unique<sukima::runtime>(settings_of(s, i)));
    boards.resize(s.nodes);
    nodes_.resize(s.nodes);
    watches_.resize(s.nodes);
    on_each([&](unsigned i) {
      sukima::cluster::node_options options;
      options.seed = s.seed;
      options.solutions = boards[i];
      options.on_failure = [](const sukima::cluster::run_failure& why) {
        ADD_FAILURE() << why.sentence;
        std::abort();
      };
      auto by = std::make_unique<solution_watch>(network_.join(i));
      watches_[i] = by.get();
      nodes_[i] = std::make_unique<sukima::cluster::node>(*runtimes_[i], std::move(by), std::move(options));
    });
  }
  ~nodes_in_process() {
    on_each([&](unsigned i) { nodes_[i].reset(); });
    for (const auto& r : runtimes_) sukima::detail::check_at_rest_if_built(*r);
  }

  /// Calls main(node) on a thread for each node, and waits for all threads.
  void on_each(const std::function<void(unsigned)>& main) {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < runtimes_.size(); ++i)
      threads.emplace_back([&main, i] {
        own_node = i;
        main(i);
      });
    for (std::thread& t : threads) t.join();
  }

  /// Runs an entry on that node, as sukima::cluster::run does.
  template <class Call> auto run(unsigned node, Call function) {
    sukima::detail::cluster_entry_of<Call> entry(std::move(function));
    nodes_[node]->run(entry);
    return entry.take();
  }
  /// Runs the same entry on all nodes. \returns the results by node
  template <class Call> auto everywhere(Call function) {
    using result = decltype(run(0, function));
    std::vector<std::optional<result>> results(nodes_.size());
    on_each([&](unsigned i) { results[i] = run(i, function); });
    std::vector<result> found;
    for (auto& r : results) found.push_back(std::move(*r));
    return found;
  }

  sukima::cluster::traffic statistics(unsigned node) const { return nodes_[node]->statistics(); }
  /// Returns after that node has received a best solution of another node.
  void wait_for_solution(unsigned node) { watches_[node]->wait_for_solution(); }
  std::uint64_t given() const {
    std::uint64_t sum = 0;
    for (const auto& n : nodes_) sum += n->statistics().given;
    return sum;
  }

 private:
  sukima::cluster::in_process_network network_;
  std::vector<std::unique_ptr<sukima::runtime>> runtimes_;
  std::vector<solution_watch*> watches_;  ///< by node; owned by the node
  std::vector<std::unique_ptr<sukima::cluster::node>> nodes_;
};

}  // namespace cluster_support
