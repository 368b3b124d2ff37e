// SPDX-License-Identifier: Apache-2.0
// Sends the messages of a node, and keeps the list of living nodes.
//
// A message that the transport refuses is dropped. Every node computes what it does not receive, so a lost
// message costs time and changes no result.
//
// Among few nodes, a note for all nodes is sent to each of them at once. Among many nodes, mediators forward
// it (mediation/mediation.hpp).
#pragma once

#include "entry/solution_board.hpp"
#include "hope/counters.hpp"
#include "hope/mediation/mediation.hpp"
#include "hope/messages.hpp"
#include "transport/transport.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace sukima::cluster::hope {

/// The result of an entry, with the name of its function first, and the best solutions that it relied on.
struct entry_value {
  node_id from;  ///< the node that sent it, or this node
  bytes content;
  bytes solutions;
};

/// The largest number of nodes at which each node sends its notes to all others directly.
inline constexpr unsigned most_without_mediators = 8;

/// Returns the longest time that a note waits on its way to another node.
/// \param nodes   number of nodes, including nodes that may join
/// \param living  number of living nodes
constexpr std::chrono::microseconds longest_way(unsigned nodes, unsigned living) noexcept {
  constexpr int steps = 3;
  return nodes > most_without_mediators ? steps * bundle_interval * living : std::chrono::microseconds(0);
}

/// The sending side of one node. Only one thread may use it.
class announcements {
 public:
  /// \param most_direct  the largest number of nodes that use no mediators, equal on all nodes
  /// \param subscribe    returns which notes this node needs
  announcements(transport& by, sukima::detail::solution_board& solutions, counters& counted,
                unsigned most_direct, mediation::subscriber subscribe);

  /// Sets this node's number. Must be called once, before any other function.
  void begin(node_id self);
  /// Stops sending to that node. The next mediator receives the notes that a lost one has not forwarded.
  void lose(node_id node);
  /// Records that a node has joined, which did not exist or was lost before.
  void gain(node_id node);
  bool is_gone(node_id node) const { return gone_[node]; }
  const std::vector<bool>& gone() const noexcept { return gone_; }
  /// \pre this node is alive
  node_id first_living() const noexcept;
  unsigned living_others() const noexcept;
  bool is_alone() const noexcept { return living_others() == 0; }

  /// Whether a message is a bundle of notes, and this node uses mediators.
  bool takes(byte_view message) const noexcept { return mediation_ && is_bundle(message); }
  /// Takes a bundle. \param take  called with each note and the node that wrote it
  void receive(node_id from, byte_view message, const std::function<void(node_id, byte_view)>& take);
  /// Sends the waiting bundles that are due.
  void send_if_due();
  /// Sends the waiting notes, and stops sending, because this node leaves.
  void stop();
  /// Records that an entry has ended here, so no other node needs its notes.
  void end_entry(std::uint64_t entry);
  /// Records that a result was sent to all nodes without mediators.
  void went_to_all(const note& n);
  /// Records that this node needs other notes from its mediators than before.
  /// \param at_once  whether the next send_if_due() subscribes to them, or else one of the next bundles does
  void needs_other_notes(bool at_once);
  /// The time at which send_if_due() has something to send; the end of time: no bundle waits.
  clock::time_point next_bundle() const noexcept;

  /// Sends a note to all living nodes. With a result it also sends this node's solutions, because the task
  /// may have been pruned by them. Complexity: linear in the number of nodes.
  /// \returns by node: whether the transport has taken a message from this node to it
  std::vector<bool> announce(const note& n);
  /// Sends a note to one node. \returns false: the transport has no room for it now
  bool announce_to(node_id to, const note& n);
  /// \returns as announce()
  std::vector<bool> announce_entry_result(std::uint64_t entry, const entry_value& value);
  /// \returns as announce_to()
  bool announce_entry_result_to(node_id to, std::uint64_t entry, const entry_value& value);
  /// Sends the solutions if one was improved here. Several improvements within a short time are sent once.
  void announce_solutions_if_new(std::uint64_t entry, clock::time_point now);
  /// The earliest time at which announce_solutions_if_new has something to send; the end of time: nothing is
  /// new.
  clock::time_point next_solutions() const noexcept {
    return solutions_.has_news() ? next_solutions_ : clock::time_point::max();
  }

 private:
  bytes solutions_for(const note& n) const;
  /// \returns false: the transport has no room for it now
  bool send(node_id to, bytes&& message);
  /// \returns as announce()
  std::vector<bool> send_to_all(const note& n);
  /// Adapts the time between bundles to the number of living nodes.
  void follow_number();

  transport& transport_;
  sukima::detail::solution_board& solutions_;
  counters& counters_;
  node_id self_ = 0;
  std::vector<bool> gone_;
  clock::time_point next_solutions_;
  std::optional<mediation> mediation_;
  bool is_stopped_ = false;
};

}  // namespace sukima::cluster::hope
