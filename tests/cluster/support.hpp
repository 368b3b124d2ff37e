// SPDX-License-Identifier: Apache-2.0
// Several nodes in one process: each has a runtime, and its own thread calls what main would call.
#pragma once

#include "rest/at_rest.hpp"
#include "steal/node.hpp"
#include "transport/in_process.hpp"

#include <sukima/cluster.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace cluster_support {

using namespace std::chrono_literals;

struct shape {
  unsigned nodes = 4;
  unsigned workers = 1;  ///< of each node
  unsigned published = 3;
  std::uint64_t seed = 1;
  std::chrono::microseconds longest_delay{200};
};

/// The node that a thread works for.
inline thread_local unsigned own_node = 0;

/// \param node  that the workers are of
inline sukima::settings settings_of(const shape& s, unsigned node = 0) {
  sukima::settings chosen;
  chosen.workers = s.workers;
  chosen.elastic = false;
  chosen.published_tasks = s.published;
  chosen.on_worker_start = [node](int) { own_node = node; };
  return chosen;
}

/// Nodes over the in-process transport. Each test calls `everywhere`, which is their main.
class nodes_in_process {
 public:
  /// \param boards  of the nodes' best solutions; missing ones are that of the process
  explicit nodes_in_process(const shape& s, std::vector<sukima::detail::solution_board*> boards = {})
      : network_({.nodes = s.nodes, .seed = s.seed, .longest_delay = s.longest_delay}) {
    for (unsigned i = 0; i < s.nodes; ++i)
      runtimes_.push_back(std::make_unique<sukima::runtime>(settings_of(s, i)));
    boards.resize(s.nodes);
    nodes_.resize(s.nodes);
    on_each([&](unsigned i) {
      sukima::cluster::node_options options;
      options.seed = s.seed;
      options.solutions = boards[i];
      options.on_failure = [](const sukima::cluster::run_failure& why) {
        ADD_FAILURE() << why.sentence;
        std::abort();
      };
      nodes_[i] =
          std::make_unique<sukima::cluster::node>(*runtimes_[i], network_.join(i), std::move(options));
    });
  }
  ~nodes_in_process() {
    on_each([&](unsigned i) { nodes_[i].reset(); });
    for (const auto& r : runtimes_) sukima::detail::check_at_rest_if_built(*r);
  }

  /// Calls main(node) on a thread for each node, and waits for all.
  void on_each(const std::function<void(unsigned)>& main) {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < runtimes_.size(); ++i)
      threads.emplace_back([&main, i] {
        own_node = i;
        main(i);
      });
    for (std::thread& t : threads) t.join();
  }

  /// An entry as sukima::cluster::run makes it, on that node.
  template <class Call> auto run(unsigned node, Call what) {
    sukima::detail::cluster_entry_of<Call> entry(std::move(what));
    nodes_[node]->run(entry);
    return entry.take();
  }
  /// The same entry on all nodes. \returns the results by node
  template <class Call> auto everywhere(Call what) {
    using result = decltype(run(0, what));
    std::vector<std::optional<result>> results(nodes_.size());
    on_each([&](unsigned i) { results[i] = run(i, what); });
    std::vector<result> found;
    for (auto& r : results) found.push_back(std::move(*r));
    return found;
  }

  sukima::cluster::traffic statistics(unsigned node) const { return nodes_[node]->statistics(); }
  std::uint64_t given() const {
    std::uint64_t sum = 0;
    for (const auto& n : nodes_) sum += n->statistics().given;
    return sum;
  }

 private:
  sukima::cluster::in_process_network network_;
  std::vector<std::unique_ptr<sukima::runtime>> runtimes_;
  std::vector<std::unique_ptr<sukima::cluster::node>> nodes_;
};

}  // namespace cluster_support
