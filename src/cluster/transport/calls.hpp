// SPDX-License-Identifier: Apache-2.0
// Connections that a node opens when it needs them. Decisions only, without sockets or clock.
//
// A node *calls* another one: it connects, and both make the handshake. Then the node that was called
// answers, and only a connection with the answer `taken` is used:
//
//   taken    the connection is the one between both nodes
//   wait     the node that was called is calling, too, and its call counts
//
// If two nodes call each other, the node with the lower number wins. It never takes a call while its own is
// under way, so it alone decides: the other one drops its own call when the winner's arrives. A call may
// fail, and is repeated until it succeeds or the other node is gone. Between two attempts even the winner
// takes the other node's call, because its own may never succeed. For the same reason a node that waits for
// the winner's call repeats its own after a while. Model: model/calls.pml.
#pragma once

#include "transport/transport.hpp"

#include <cstdint>
#include <vector>

namespace sukima::cluster {

/// The calls of one node. One thread.
class calls {
 public:
  enum class answer : std::uint8_t { wait, taken };

  calls(node_id self, unsigned nodes) : self_(self), others_(nodes) {}

  /// Begins to call a node. \returns the number of the call; 0: none is needed, because one is under way
  /// \pre there is no connection to that node
  std::uint64_t begin(node_id to) {
    other& o = others_[to];
    if (o.is_calling() || o.waits) return 0;
    return o.number = ++last_;
  }
  /// Whether that call is still wanted.
  bool is_current(node_id to, std::uint64_t number) const { return others_[to].number == number; }
  /// Whether a call to that node is under way.
  bool is_calling(node_id to) const { return others_[to].is_calling(); }
  /// Whether this node waits for the call of that one.
  bool is_waiting_for(node_id node) const { return others_[node].waits; }
  /// Records whether the call is between two attempts. \pre it is under way
  void pause(node_id to, bool is_paused) {
    others_[to].is_paused = is_paused;
    others_[to].arrivals = 0;
  }
  /// Records that something has arrived by the call's connection. \pre the call is under way
  void count_arrival(node_id to) {
    other& o = others_[to];
    if (++o.arrivals <= o.most_arrivals) return;
    o.most_arrivals = o.arrivals;
    ++steps_;
  }
  /// A number that grows when calls make progress: a call ends, or gets further than any attempt before.
  std::uint64_t steps() const { return steps_; }
  /// Returns the answer to a call that has arrived. With `taken` an own call is not wanted any more.
  /// \pre there is no connection to that node
  answer answer_to(node_id from) {
    const other& o = others_[from];
    if (o.is_calling() && !o.is_paused && self_ < from) return answer::wait;
    end(from);
    return answer::taken;
  }
  /// Records the answer `wait`. \returns false: this node does not wait for that node's call, because that
  /// node may since be gone
  bool wait_for(node_id from) {
    const bool waits = !others_[from].is_doubted;
    others_[from] = {.waits = waits, .most_arrivals = others_[from].most_arrivals};
    return waits;
  }
  /// Records that a node may be gone: this node does not wait for its call.
  void doubt(node_id node) {
    others_[node].waits = false;
    others_[node].is_doubted = others_[node].is_calling();
  }
  /// Ends a call: there is a connection, or the other node is gone.
  void end(node_id with) {
    others_[with] = {};
    ++steps_;
  }

 private:
  struct other {
    std::uint64_t number = 0;  ///< of the call; 0: none
    bool is_paused = false;  ///< the call, between two attempts
    bool waits = false;
    bool is_doubted = false;  ///< since the call began
    std::uint32_t arrivals = 0;  ///< in the attempt that is under way
    std::uint32_t most_arrivals = 0;  ///< in any attempt
    bool is_calling() const noexcept { return number != 0; }
  };
  const node_id self_;
  std::vector<other> others_;
  std::uint64_t last_ = 0;
  std::uint64_t steps_ = 0;
};

}  // namespace sukima::cluster
