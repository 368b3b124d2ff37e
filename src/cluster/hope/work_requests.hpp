// SPDX-License-Identifier: Apache-2.0
// Which nodes an idle node asks for work, and for how long.
#pragma once

#include "transport/transport.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace sukima::cluster::hope {

/// The requests of one node, one at a time. One thread.
class work_requests {
 public:
  /// \param nodes     how many there are
  /// \param patience  how long an idle node only asks. The time is five times as long if some node has not
  ///                  answered that it has no work, because a silent node may only lack a CPU; among more
  ///                  than eight nodes, a node's last report counts as its answer, too. The time doubles each
  ///                  time the node continued without the others, until a node is lost: while all nodes live,
  ///                  repeated work is mostly wasted.
  work_requests(unsigned nodes, std::chrono::microseconds patience) : patience_(patience), others_(nodes) {}

  void set_patience(std::chrono::microseconds patience) noexcept { patience_ = patience; }
  /// Forgets the last entry, because another one begins: no node is asked.
  void begin() noexcept;
  /// Records that the node has something to do.
  void has_work() noexcept;
  /// Records that the node's patience has run out and that it continues without the others. It neither asks
  /// silent nodes nor waits for them until they send something.
  void does_without() noexcept;
  /// Called while the node has nothing to do. It asks all others in turn, one after the other. When it has
  /// asked all, it pauses, longer each time. It waits 10 ms for an answer, unless the asked node is lost.
  ///
  /// Among more than eight nodes it asks less, so that many idle nodes do not send in proportion to the
  /// square of their number:
  ///   - In its first turn it leaves out nodes that reported last that they have no work.
  ///   - It also pauses after each four requests, and after each one from the second turn on.
  ///   - Its longest pause, and the time for which it waits for an answer, grow with the number of nodes.
  /// \param draw  a random number, which chooses the first node of a turn
  /// \returns the node to ask now; nothing: none. Linear in the number of nodes
  std::optional<node_id> next(clock::time_point now, std::uint64_t draw);
  /// Records that a node has sent a message.
  void received_from(node_id from) noexcept { others_[from].is_silent = false; }
  /// Records that a node has given a task.
  void gave(node_id from) noexcept;
  /// Records that a node has announced a task that it runs, or the result of one.
  void works(node_id node) noexcept { others_[node].lacks_work = false; }
  /// Records that a node has nothing to give.
  void has_none(node_id from) noexcept;
  /// Records that a node has nothing to do, because it has sent a request. If this node has nothing to do
  /// either, it does not ask that node in this turn.
  void asks_itself(node_id from) noexcept;
  /// Excludes a node from the requests: this node, or a lost one.
  void lose(node_id node) noexcept {
    others_[node].is_gone = true;
    if (asked_ == node) asked_.reset();
    times_without_ = 0;
  }

  /// Includes a node that has joined.
  void gain(node_id node) noexcept { others_[node] = {}; }

  /// Whether the node has had nothing to do for longer than its patience.
  bool is_over(clock::time_point now) const noexcept { return idle_since_ && now >= end_of_patience(); }
  /// The time since when the node has had nothing to do; the beginning of time: next() was not called since.
  clock::time_point idle_since() const noexcept { return idle_since_.value_or(clock::time_point::min()); }
  /// When is_over() becomes true, or has become. \pre next() was called last
  clock::time_point end_of_patience() const noexcept;
  /// When next() has a node to ask, if no message comes. \pre next() was called last
  clock::time_point next_request() const noexcept { return asked_ ? until_ : not_before_; }

 private:
  struct other_node {
    bool is_gone = false;
    bool is_silent = false;
    bool has_none = false;  ///< it has reported that it has no work, since this node has nothing to do
    bool was_asked = false;  ///< in this turn, or it has asked itself
    bool lacks_work = false;  ///< it has reported last that it has no work
  };

  bool is_among_many() const noexcept;
  /// Returns `least`; among more than eight nodes at least `of_each` for each living node. Linear in their
  /// number.
  std::chrono::microseconds at_least(std::chrono::microseconds least,
                                     std::chrono::microseconds of_each) const noexcept;
  void pause(clock::time_point now);

  std::chrono::microseconds patience_;
  std::vector<other_node> others_;
  std::optional<clock::time_point> idle_since_;
  std::optional<node_id> asked_;
  clock::time_point until_;  ///< its answer is waited for
  unsigned in_a_row_ = 0;  ///< requests since the last pause
  bool is_first_turn_ = true;  ///< since this node has had something to do
  std::chrono::microseconds pause_{};
  int times_without_ = 0;  ///< times without the others, in this entry and since the last loss of a node
  clock::time_point not_before_;
};

}  // namespace sukima::cluster::hope
