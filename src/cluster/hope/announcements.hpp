// SPDX-License-Identifier: Apache-2.0
// The sending side of a node, and the list of living nodes.
//
// A message that the transport does not take is dropped. Every node computes what it does not receive, so a
// lost message costs time and changes no result.
#pragma once

#include "entry/solution_board.hpp"
#include "hope/counters.hpp"
#include "hope/messages.hpp"
#include "transport/transport.hpp"

#include <cstdint>
#include <vector>

namespace sukima::cluster::hope {

/// The result of an entry, after its name, and the best solutions that it relied on.
struct entry_value {
  node_id from;  ///< the node that has sent it, or this one
  bytes content;
  bytes solutions;
};

/// The sending side of one node. One thread.
class announcements {
 public:
  announcements(transport& by, sukima::detail::solution_board& solutions, counters& counted)
      : transport_(by), solutions_(solutions), counters_(counted), gone_(by.nodes()) {}

  /// Sets this node's number. Once, before anything else.
  void begin(node_id self) noexcept { self_ = self; }
  /// Sends nothing to that node any more.
  void lose(node_id node) { gone_[node] = true; }
  bool is_gone(node_id node) const { return gone_[node]; }
  const std::vector<bool>& gone() const noexcept { return gone_; }
  unsigned living_others() const noexcept;
  bool is_alone() const noexcept { return living_others() == 0; }

  /// Sends a note to all living nodes. A result brings this node's solutions along, because its task may have
  /// been pruned by them. Linear in the number of nodes.
  void announce(const note& n);
  void announce_to(node_id to, const note& n);
  void announce_entry_result(std::uint64_t entry, const entry_value& value);
  void announce_entry_result_to(node_id to, std::uint64_t entry, const entry_value& value);
  /// Sends the solutions if one was improved here. Improvements in quick succession are sent once.
  void announce_solutions_if_new(std::uint64_t entry, clock::time_point now);
  /// The earliest time at which the last function has something to send; the end of time: nothing is new.
  clock::time_point next_solutions() const noexcept {
    return solutions_.has_news() ? next_solutions_ : clock::time_point::max();
  }

 private:
  bytes solutions_for(const note& n) const;
  void send(node_id to, const note& n);

  transport& transport_;
  sukima::detail::solution_board& solutions_;
  counters& counters_;
  node_id self_ = 0;
  std::vector<bool> gone_;
  clock::time_point next_solutions_;
};

}  // namespace sukima::cluster::hope
