// SPDX-License-Identifier: Apache-2.0
// Decides when a node requests a task, and from which node. Decisions only, without a clock, messages or
// threads.
//
// If nodes connect only when needed, a node sends requests only to some of the others: to about the logarithm
// of their number (transport/sparse_graph.hpp), and to the node that gave the last task.
//
// Each other node is near or far, depending on the shortest round trip that was measured to it. Before any
// measurement it is near. One request is under way to near nodes and one to far nodes, so this node never
// waits for an answer from far while a near node has work. On each side the first request goes to the node
// that gave the last task. The others follow in a random order; nodes that gave tasks and nodes at a short
// distance are more likely to come early. The node gives up a request after a time without an answer. If the
// answer arrives later, its task is still accepted.
//
// After two consecutive requests without a task, the node sends no more requests on that side. If both sides
// are silent, the node waits at its lifelines (lifelines.hpp): first with its partners, and if no task
// arrives for a while, with all others. If it sends requests only to some nodes, it registers with these
// first, and then with a few more every 100 ms. An arriving task ends the silence, and so does the next
// entry.
// Source of the two sides: van Nieuwpoort et al., "Efficient load balancing for wide-area divide-and-conquer
// applications", PPoPP 2001.
//
// A lifeline stays registered with a node until a task arrives from that node, even if this node does not
// need the task any more. So this node considers a lifeline registered only if the other node has it, or the
// lifeline is under way to that node, or a task is under way from it. A node therefore never waits for a node
// that does not know about it. Partner: lifelines::remove, which is called for each task that is sent. Model:
// model/lifelines.pml.
#pragma once

#include "transport/transport.hpp"

#include <optional>
#include <random>
#include <vector>

namespace sukima::cluster {

class thief {
 public:
  static constexpr std::chrono::microseconds patience{5000};  ///< then other nodes get requests or lifelines
  /// Interval at which lifelines are registered with more nodes than those that get requests.
  static constexpr std::chrono::microseconds long_patience{100000};
  static constexpr unsigned patient_round_trips = 4;  ///< or that many round trips, if they take longer
  static constexpr unsigned most_refusals = 2;  ///< consecutive ones; then that side gets no request
  static constexpr std::chrono::microseconds far_from{1000};  ///< smallest round trip of a far node

  struct request {
    node_id victim;
    std::uint64_t number;  ///< unique among the requests of this node; the answer `none` repeats it
  };

  /// \param is_sparse  as in transport_limits
  thief(node_id self, unsigned nodes, std::uint64_t seed, bool is_sparse = false);

  /// Records whether a worker is idle.
  void set_hungry(bool hungry) noexcept { hungry_ = hungry; }
  bool is_hungry() const noexcept { return hungry_; }
  /// Returns the next request to send, which then counts as under way. Another one may follow. Nothing: no
  /// request now.
  std::optional<request> next_request(clock::time_point now);
  void on_none(node_id from, std::uint64_t number, clock::time_point now);
  /// Measures the round trip to a node when it answers a request, with a task or without.
  /// \param number  the number of the request; 0: the message answers no request
  void measure(node_id from, std::uint64_t number, clock::time_point now);
  /// Returns the shortest round trip that was measured; 0: none was measured.
  clock::duration round_trip(node_id to) const { return others_[to].round_trip.value_or(clock::duration{0}); }
  /// Whether to keep a task from that node. If no worker is idle any more, the task is returned, unless a far
  /// node has sent it on request. Then the next worker without work gets it without a round trip.
  bool keeps_task(node_id from) const noexcept;
  /// Records that a task has arrived and is kept. No worker counts as idle until the next set_hungry.
  void on_task(node_id from);
  /// Records that a task has arrived and is returned.
  void on_surplus(node_id from);
  /// Removes a node that is gone.
  void forget(node_id node);
  /// Adds a node that has joined.
  void gain(node_id node) { others_[node] = {.is_there = true}; }
  /// Begins a new entry: every node may have work, and no lifeline is registered.
  void begin_entry();
  /// Returns the nodes with which lifelines must be registered now, and counts them as registered. Mostly
  /// empty.
  std::vector<node_id> take_lifelines(clock::time_point now);
  /// Returns the time at which next_request or take_lifelines will have another answer even if no message
  /// arrives; nothing: never.
  std::optional<clock::time_point> next_look() const noexcept;
  /// \returns the first invariant that does not hold, or null
  const char* violated_invariant() const noexcept;

 private:
  /// Another node. This node has an entry in the list, too, with `is_there` false.
  struct other {
    bool is_there = false;
    bool has_lifeline = false;  ///< this node has a lifeline registered there
    std::uint64_t tasks = 0;  ///< number of tasks that it gave; halved by each `none`
    std::optional<clock::duration> round_trip{};
    std::uint64_t asked_number = 0;  ///< number of the last request to it
    clock::time_point asked_at{};
  };
  struct side {
    std::vector<node_id> round;  ///< nodes for the rest of this round, the next one last
    std::optional<node_id> asked;
    unsigned refusals = 0;  ///< number of consecutive requests without a task
  };

  bool is_far(node_id n) const noexcept;
  bool is_on(const side& s, node_id n) const noexcept;
  /// Whether this node sends requests to that node, even if that node is not the last giver.
  bool asks(node_id n) const noexcept;
  void begin_round(side& s);
  std::optional<node_id> next_victim(side& s);
  /// Removes a node at random and returns it. \pre the list is not empty
  node_id draw(std::vector<node_id>& from);
  bool is_silent(const side& s) const noexcept;
  /// Calls look(node, silence) for the nodes with which no lifeline is registered. `silence` is the time
  /// after which one must be registered. Complexity: linear in the nodes.
  template <class Look> void visit_unregistered(Look look) const;
  clock::time_point end_of_patience(node_id asked) const noexcept;
  void give_up_late_ones(clock::time_point now);
  /// Forgets earlier requests, so that all nodes may get requests again.
  void begin_asking();

  std::mt19937_64 draws_;
  node_id self_;
  bool is_sparse_;
  std::vector<other> others_;  ///< by node
  side near_;
  side far_;
  bool hungry_ = false;
  std::uint64_t last_number_ = 0;
  std::optional<clock::time_point> waits_since_;  ///< since when it waits at its lifelines
  std::optional<node_id> last_giver_;
};

}  // namespace sukima::cluster
