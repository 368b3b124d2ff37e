// SPDX-License-Identifier: Apache-2.0
// Determines from which nodes an idle node requests work, and for how long.
#pragma once

#include "transport/transport.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace sukima::cluster::hope {

/// The requests of one node, one at a time. Only one thread may use it.
class work_requests {
 public:
  /// \param nodes     number of nodes
  /// \param patience  how long an idle node only sends requests. The time is five times as long if some node
  /// has
  ///                  not answered that it has no work, because a silent node may only lack a CPU; among more
  ///                  than eight nodes, the last report of a node also counts as its answer. The time doubles
  ///                  each time the node continued without the others, until a node is lost, because repeated
  ///                  work is mostly wasted while all nodes are alive.
  work_requests(unsigned nodes, std::chrono::microseconds patience) : patience_(patience), others_(nodes) {}

  void set_patience(std::chrono::microseconds patience) noexcept { patience_ = patience; }
  /// Discards the state of the previous entry, because another one begins. No request is under way.
  void begin() noexcept;
  /// Records that the node has work.
  void has_work() noexcept;
  /// Records that the node's patience has ended and that it continues without the others. It sends no
  /// requests to silent nodes, and does not wait for them, until they send a message.
  void does_without() noexcept;
  /// Called while the node has no work. It sends requests to all other nodes in turn, one after the other.
  /// After that it pauses, longer each time. It waits at least 10 ms for an answer, unless the other node is
  /// lost.
  ///
  /// Among more than eight nodes it sends fewer requests. Otherwise many idle nodes would send in proportion
  /// to the square of their number:
  ///   - In its first turn it skips nodes whose last report was that they have no work.
  ///   - It also pauses after every four requests, and from the second turn on after every request.
  ///   - Its longest pause, and the time for which it waits for an answer, grow with the number of nodes.
  /// \param draw  a random number, which selects the first node of a turn
  /// \returns the node that gets a request now; nothing: none. Complexity: linear in the number of nodes
  std::optional<node_id> next(clock::time_point now, std::uint64_t draw);
  /// Records that a node has sent a message.
  void received_from(node_id from) noexcept { others_[from].is_silent = false; }
  /// Records that a node has given a task.
  void gave(node_id from) noexcept;
  /// Records that a node has announced a task that it runs, or the result of one.
  void works(node_id node) noexcept { others_[node].lacks_work = false; }
  /// Records that a node has no task to give.
  void has_none(node_id from) noexcept;
  /// Records that a node has no work, because it has sent a request. If this node has no work either, it
  /// sends that node no request in this turn.
  void asks_itself(node_id from) noexcept;
  /// Excludes a node from the requests: this node, or a lost one.
  void lose(node_id node) noexcept {
    others_[node].is_gone = true;
    if (asked_ == node) asked_.reset();
    times_without_ = 0;
  }

  /// Includes a node that has joined.
  void gain(node_id node) noexcept { others_[node] = {}; }

  /// Whether the node has had no work for longer than its patience.
  bool is_over(clock::time_point now) const noexcept { return idle_since_ && now >= end_of_patience(); }
  /// The time since when the node has had no work; the beginning of time: next() was not called since it had
  /// work.
  clock::time_point idle_since() const noexcept { return idle_since_.value_or(clock::time_point::min()); }
  /// The time at which is_over() becomes or became true. \pre next() was called last
  clock::time_point end_of_patience() const noexcept;
  /// The time at which next() has another node, if no message arrives. \pre next() was called last
  clock::time_point next_request() const noexcept { return asked_ ? until_ : not_before_; }

 private:
  struct other_node {
    bool is_gone = false;
    bool is_silent = false;
    bool has_none = false;  ///< it has reported that it has no work, since this node became idle
    bool was_asked = false;  ///< it got a request in this turn, or has sent one itself
    bool lacks_work = false;  ///< its last report was that it has no work
  };

  bool is_among_many() const noexcept;
  /// Returns `least`; among more than eight nodes at least `of_each` for each living node. Complexity: linear
  /// in their number.
  std::chrono::microseconds at_least(std::chrono::microseconds least,
                                     std::chrono::microseconds of_each) const noexcept;
  void pause(clock::time_point now);

  std::chrono::microseconds patience_;
  std::vector<other_node> others_;
  std::optional<clock::time_point> idle_since_;
  std::optional<node_id> asked_;
  clock::time_point until_;  ///< end of the wait for its answer
  unsigned in_a_row_ = 0;  ///< requests since the last pause
  bool is_first_turn_ = true;  ///< whether the first turn since this node became idle is under way
  std::chrono::microseconds pause_{};
  int times_without_ = 0;  ///< how often, in this entry and since the last loss of a node
  clock::time_point not_before_;
};

}  // namespace sukima::cluster::hope
