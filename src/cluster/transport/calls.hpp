// SPDX-License-Identifier: Apache-2.0
// Decides about connections that a node opens when it needs them. Uses neither sockets nor a clock.
//
// A node *calls* another one: it connects, and both make the handshake. Then the called node answers. Only a
// connection with the answer `taken` is used:
//
//   taken    this connection is the one between both nodes
//   wait     the called node is itself calling, and its call takes precedence
//
// If two nodes call each other, the node with the lower number wins. While its own call is under way, it
// never takes a call of the other node, so it alone decides: the other node drops its own call when the
// winner's call arrives. A call may fail; the node repeats it until it succeeds or the other node is gone.
// Between two attempts even the winner takes the other node's call, because its own call may never succeed.
// For the same reason a node that waits for the winner's call repeats its own after a while. Model:
// model/calls.pml.
#pragma once

#include "transport/transport.hpp"

#include <cstdint>
#include <vector>

namespace sukima::cluster {

/// The calls of one node. Only one thread may use this object.
class calls {
 public:
  enum class answer : std::uint8_t { wait, taken };

  calls(node_id self, unsigned nodes) : self_(self), others_(nodes) {}

  /// Begins to call a node.
  /// \returns the number of the call; 0: no call is needed, because one is under way
  /// \pre there is no connection to that node
  std::uint64_t begin(node_id to) {
    other& o = others_[to];
    if (o.is_calling() || o.waits) return 0;
    return o.number = ++last_;
  }
  /// Whether the call with that number is still needed.
  bool is_current(node_id to, std::uint64_t number) const { return others_[to].number == number; }
  /// Whether a call to that node is under way.
  bool is_calling(node_id to) const { return others_[to].is_calling(); }
  /// Whether this node waits for a call by that node.
  bool is_waiting_for(node_id node) const { return others_[node].waits; }
  /// Records whether the call is between two attempts. \pre the call is under way
  void pause(node_id to, bool is_paused) {
    others_[to].is_paused = is_paused;
    others_[to].arrivals = 0;
  }
  /// Records that bytes arrived on the call's connection. \pre the call is under way
  void count_arrival(node_id to) {
    other& o = others_[to];
    if (++o.arrivals <= o.most_arrivals) return;
    o.most_arrivals = o.arrivals;
    ++steps_;
  }
  /// Returns a number that grows when calls make progress: a call ends, or gets further than any earlier
  /// attempt.
  std::uint64_t steps() const { return steps_; }
  /// Returns the answer to a call that has arrived. With `taken`, this node's own call is no longer needed.
  /// \pre there is no connection to that node
  answer answer_to(node_id from) {
    const other& o = others_[from];
    if (o.is_calling() && !o.is_paused && self_ < from) return answer::wait;
    end(from);
    return answer::taken;
  }
  /// Records the answer `wait`. \returns false: this node does not wait for the other node's call, because
  /// that node may be gone in the meantime
  bool wait_for(node_id from) {
    const bool waits = !others_[from].is_doubted;
    others_[from] = {.waits = waits, .most_arrivals = others_[from].most_arrivals};
    return waits;
  }
  /// Records that a node may be gone, so this node does not wait for its call.
  void doubt(node_id node) {
    others_[node].waits = false;
    others_[node].is_doubted = others_[node].is_calling();
  }
  /// Ends a call, because there is a connection or the other node is gone.
  void end(node_id with) {
    others_[with] = {};
    ++steps_;
  }

 private:
  struct other {
    std::uint64_t number = 0;  ///< of the call; 0: no call
    bool is_paused = false;  ///< whether the call is between two attempts
    bool waits = false;
    bool is_doubted = false;  ///< whether doubt() was called since the call began
    std::uint32_t arrivals = 0;  ///< number of arrivals in the present attempt
    std::uint32_t most_arrivals = 0;  ///< the largest number of arrivals in an attempt
    bool is_calling() const noexcept { return number != 0; }
  };
  const node_id self_;
  std::vector<other> others_;
  std::uint64_t last_ = 0;
  std::uint64_t steps_ = 0;
};

}  // namespace sukima::cluster
