// SPDX-License-Identifier: Apache-2.0
// When a node asks for a task, and which node it asks. Decisions only, without clock, messages or threads.
//
// If nodes connect only when they need it, it asks only a part of them: about the logarithm of their number
// (transport/sparse_graph.hpp), and the node that gave the last task.
//
// Each other node is near or far, by the shortest round trip that was measured to it; before any measurement
// it is near. One request is under way to near nodes and one to far nodes, so this node never waits for a far
// answer while a near node has work. On each side it first asks the node that gave the last task, then the
// others in a random order. A node is more probably asked early if it has given tasks, and if it is near. The
// node gives up a request that is not answered for a while. If the answer arrives later, its task is still
// accepted.
//
// After two requests in a row without a task, the node asks no node of that side any more. If that holds for
// both sides, it waits at its lifelines (lifelines.hpp): first with its partners, and if no task arrives for
// a while, with all others. If it asks a part of them only, it registers with these, and from then on with a
// few more each 100 ms. An arriving task ends the silence, and so does the next entry.
// Source of the two sides: van Nieuwpoort et al., "Efficient load balancing for wide-area divide-and-conquer
// applications", PPoPP 2001.
//
// A lifeline stays registered with a node until a task arrives from there, even if this node does not need
// the task any more. So "registered there" is true here only if that node has the lifeline, or the lifeline
// is under way to it, or a task is under way from it. A node therefore never waits for a node that does not
// know about it. Partner: lifelines::remove, which is called for each task that is sent. Model:
// model/lifelines.pml.
#pragma once

#include "transport/transport.hpp"

#include <optional>
#include <random>
#include <vector>

namespace sukima::cluster {

class thief {
 public:
  static constexpr std::chrono::microseconds patience{5000};  ///< then another node is asked, or all
  /// Each time, lifelines are registered with more nodes than are asked.
  static constexpr std::chrono::microseconds long_patience{100000};
  static constexpr unsigned patient_round_trips = 4;  ///< or so many of them, if that is longer
  static constexpr unsigned most_refusals = 2;  ///< in a row; then no node of that side is asked
  static constexpr std::chrono::microseconds far_from{1000};  ///< the round trip of a far node

  struct request {
    node_id victim;
    std::uint64_t number;  ///< of no other request of this node; the answer `none` has it, too
  };

  /// \param is_sparse  as in transport_limits
  thief(node_id self, unsigned nodes, std::uint64_t seed, bool is_sparse = false);

  /// Records whether a worker is idle.
  void set_hungry(bool hungry) noexcept { hungry_ = hungry; }
  bool is_hungry() const noexcept { return hungry_; }
  /// Returns the request to send now, which counts as under way. Another one may follow. Nothing: none now.
  std::optional<request> next_request(clock::time_point now);
  void on_none(node_id from, std::uint64_t number, clock::time_point now);
  /// Measures the distance of a node by its answer to a request, with a task or without.
  /// \param number  that of the request; 0: the message answers no request
  void measure(node_id from, std::uint64_t number, clock::time_point now);
  /// The shortest round trip that was measured; 0: none was.
  clock::duration round_trip(node_id to) const { return others_[to].round_trip.value_or(clock::duration{0}); }
  /// Whether a task from that node is kept. If no worker is idle any more, the task is returned, unless a far
  /// node has sent it on request: then the next worker without work gets it without a round trip.
  bool keeps_task(node_id from) const noexcept;
  /// Records that a task has arrived and is kept: no worker counts as idle before the next set_hungry.
  void on_task(node_id from);
  /// Records that a task has arrived and is returned.
  void on_surplus(node_id from);
  /// Forgets a node that is gone.
  void forget(node_id node);
  /// Adds a node that has joined.
  void gain(node_id node) { others_[node] = {.is_there = true}; }
  /// Begins a new entry: all nodes may have work, and no lifeline is registered.
  void begin_entry();
  /// Returns the nodes with which lifelines must be registered now. They count as registered then. Mostly
  /// none.
  std::vector<node_id> take_lifelines(clock::time_point now);
  /// Returns when next_request or take_lifelines will have another answer although nothing arrives; nothing:
  /// never.
  std::optional<clock::time_point> next_look() const noexcept;

 private:
  /// Another node; this one has a place among them, too, and is never there.
  struct other {
    bool is_there = false;
    bool has_lifeline = false;  ///< of this node
    std::uint64_t tasks = 0;  ///< that it gave; halved by each `none`
    std::optional<clock::duration> round_trip{};
    std::uint64_t asked_number = 0;  ///< of the last request to it
    clock::time_point asked_at{};
  };
  struct side {
    std::vector<node_id> round;  ///< still to be asked in this round, the next one last
    std::optional<node_id> asked;
    unsigned refusals = 0;  ///< in a row
  };

  bool is_far(node_id n) const noexcept;
  bool is_on(const side& s, node_id n) const noexcept;
  /// Whether that node is one of the nodes that are asked, besides the last giver.
  bool asks(node_id n) const noexcept;
  void begin_round(side& s);
  std::optional<node_id> next_victim(side& s);
  /// Takes a random one out. \pre not empty
  node_id draw(std::vector<node_id>& from);
  bool is_silent(const side& s) const noexcept;
  /// Calls look(node, silence) for the nodes with which no lifeline is registered, and the silence after
  /// which it must be. Linear in the nodes.
  template <class Look> void visit_unregistered(Look look) const;
  clock::time_point end_of_patience(node_id asked) const noexcept;
  void give_up_late_ones(clock::time_point now);
  /// Forgets the former requests, so that all nodes are asked again.
  void begin_asking();

  std::mt19937_64 draws_;
  node_id self_;
  bool is_sparse_;
  std::vector<other> others_;  ///< by node
  side near_;
  side far_;
  bool hungry_ = false;
  std::uint64_t last_number_ = 0;
  std::optional<clock::time_point> waits_since_;  ///< at the lifelines of its partners
  std::optional<node_id> last_giver_;
};

}  // namespace sukima::cluster
