// SPDX-License-Identifier: Apache-2.0
// Nodes under hierarchical omission in one process, with messages and nodes that are lost.
#pragma once

#include "hope/node.hpp"
#include "in_process_network.hpp"
#include "invariants/at_rest.hpp"
#include "support.hpp"

#include <sukima/cluster.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace hope_support {

using namespace sukima::cluster;
using namespace std::chrono_literals;

/// No node helps with a unit of another one during a test. On a busy machine a worker may begin a task of the
/// plan late. If the node took the task back, it would leave it to its claimant and never reach its own part.
inline const hope::node_options without_help{.before_helping = 10h, .before_taking_back = 10h};

/// The faults of the messages that one node sends and receives. Chances are in parts per 1,000.
struct faults {
  unsigned lost = 0;
  unsigned doubled = 0;
  unsigned overtaken = 0;  ///< by the next message of the node
  std::uint64_t dies_at = 0;  ///< the node dies at this number of its messages; 0: it lives
  std::uint64_t suspects_at = 0;  ///< number of received messages at which the node suspects `suspect`
  node_id suspect = 0;
  std::optional<std::chrono::microseconds> patience{};  ///< of the node, instead of before_helping
  std::function<bool(node_id to, const hope::note&)> loses{};  ///< additional notes that are lost
  bool loses_bundles = false;  ///< whether all bundles of mediators are lost
  std::function<bool(node_id to, const hope::note&)> refuses{};  ///< notes for which there is no room
  bool joins = false;  ///< whether the node joins the run of the others
};
/// Whether a note contains only solutions. As `loses`, it loses all these notes.
inline bool is_best(node_id /*to*/, const hope::note& n) { return n.kind == hope::note_kind::best; }

/// A transport between a node and its transport in the network, which adds the faults.
class faulty_transport final : public transport, private receiver {
 public:
  faulty_transport(in_process_network& network, node_id self, const faults& chosen, std::uint64_t seed)
      : network_(network),
        self_(self),
        chosen_(chosen),
        below_(network.join(self)),
        draws_(seed * 64 + self) {}

  node_id start(receiver& to, clock::time_point deadline) override {
    to_ = &to;
    return below_->start(*this, deadline);
  }
  unsigned nodes() const noexcept override { return below_->nodes(); }
  bool send(node_id to, bytes&& message) override {
    if (++sent_ == chosen_.dies_at) network_.kill(self_);
    if (happens(chosen_.lost) || (chosen_.loses_bundles && hope::is_bundle(message))) return true;
    const auto n = hope::read_note(message);
    if (n && chosen_.loses && chosen_.loses(to, *n)) return true;
    if (n && chosen_.refuses && chosen_.refuses(to, *n)) return false;
    if (happens(chosen_.doubled)) below_->send(to, bytes(message));
    std::vector<std::pair<node_id, bytes>> late = std::exchange(late_, {});
    bool taken = true;
    if (happens(chosen_.overtaken))
      late_.emplace_back(to, std::move(message));
    else
      taken = below_->send(to, std::move(message));
    for (auto& [addressee, content] : late) below_->send(addressee, std::move(content));
    return taken;
  }
  void wait(clock::time_point until) override { below_->wait(until); }
  void ring() noexcept override { below_->ring(); }
  transport_limits can() const noexcept override { return below_->can(); }
  std::uint64_t taken_by(node_id to) override { return below_->taken_by(to); }
  void stop(std::chrono::milliseconds patience) noexcept override { below_->stop(patience); }

 private:
  void on_message(node_id from, byte_view message) override {
    if (++got_ == chosen_.suspects_at) to_->on_lost(chosen_.suspect, "suspected");
    to_->on_message(from, message);
  }
  void on_left(node_id node) override { to_->on_left(node); }
  void on_lost(node_id node, const std::string& why) override { to_->on_lost(node, why); }
  bool happens(unsigned chance) { return draws_() % 1000 < chance; }

  in_process_network& network_;
  const node_id self_;
  const faults chosen_;
  const std::unique_ptr<transport> below_;
  receiver* to_ = nullptr;
  std::mt19937_64 draws_;
  std::uint64_t sent_ = 0;
  std::uint64_t got_ = 0;
  std::vector<std::pair<node_id, bytes>> late_;
};

/// Several nodes. Each has a runtime, and its own thread makes the calls of main.
class hope_nodes {
 public:
  /// \param each  the faults of each node; missing ones are those of a good network
  /// \param boards  the boards of the nodes' best solutions; a missing one is the board of the process
  hope_nodes(const cluster_support::shape& s, const hope::node_options& chosen, std::vector<faults> each = {},
             std::vector<sukima::detail::solution_board*> boards = {})
      : network_({.nodes = s.nodes, .seed = s.seed, .longest_delay = s.longest_delay}) {
    each.resize(s.nodes);
    for (unsigned i = 0; i < s.nodes; ++i)
      runtimes_.push_back(std::make_unique<sukima::runtime>(cluster_support::settings_of(s, i)));
    boards.resize(s.nodes);
    nodes_.resize(s.nodes);
    on_each([&](unsigned i) {
      hope::node_options options = chosen;
      options.seed = s.seed * s.nodes + i;
      options.solutions = boards[i];
      options.before_helping = each[i].patience.value_or(chosen.before_helping);
      options.joins = each[i].joins;
      nodes_[i] = std::make_unique<hope::node>(
          *runtimes_[i], std::make_unique<faulty_transport>(network_, i, each[i], s.seed), options);
    });
  }
  ~hope_nodes() {
    on_each([&](unsigned i) { nodes_[i].reset(); });
    for (const auto& r : runtimes_) sukima::detail::check_at_rest_if_built(*r);
  }
  hope_nodes(const hope_nodes&) = delete;
  hope_nodes& operator=(const hope_nodes&) = delete;

  void on_each(const std::function<void(unsigned)>& main) {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < runtimes_.size(); ++i)
      threads.emplace_back([&main, i] {
        cluster_support::own_node = i;
        main(i);
      });
    for (std::thread& t : threads) t.join();
  }
  template <class Call> auto run(unsigned node, Call function) {
    sukima::detail::cluster_entry_of<Call> entry(std::move(function));
    nodes_[node]->run(entry);
    return entry.take();
  }
  /// Runs the same entry on all nodes. A node that is dead to the others continues alone, so it also has a
  /// result.
  template <class Call> auto everywhere(Call function) {
    using result = decltype(run(0, function));
    std::vector<std::optional<result>> results(nodes_.size());
    on_each([&](unsigned i) { results[i] = run(i, function); });
    std::vector<result> found;
    for (auto& r : results) found.push_back(std::move(*r));
    return found;
  }

  /// Makes the node dead to the others from now on.
  void kill(node_id node) { network_.kill(node); }
  hope::counts sum() const {
    hope::counts all;
    for (const auto& n : nodes_) {
      const hope::counts c = n->statistics();
      all.named += c.named;
      all.omitted += c.omitted;
      all.cut += c.cut;
      all.computed += c.computed;
      all.published += c.published;
      all.helped += c.helped;
      all.given += c.given;
      all.taken_over += c.taken_over;
      all.yielded += c.yielded;
      all.reports += c.reports;
      all.notes += c.notes;
      all.bundles += c.bundles;
      all.requests += c.requests;
      all.refusals += c.refusals;
      all.questions += c.questions;
      all.answers += c.answers;
      all.sent_bytes += c.sent_bytes;
      all.forwarded += c.forwarded;
      all.withheld += c.withheld;
      all.deleted += c.deleted;
    }
    return all;
  }
  hope::counts statistics(unsigned node) const { return nodes_[node]->statistics(); }

 private:
  in_process_network network_;
  std::vector<std::unique_ptr<sukima::runtime>> runtimes_;
  std::vector<std::unique_ptr<hope::node>> nodes_;
};

}  // namespace hope_support
