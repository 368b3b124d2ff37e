// SPDX-License-Identifier: Apache-2.0
// How the nodes of a cluster exchange messages. Implementations: tcp.hpp, mpi.hpp, and for tests
// tests/cluster/in_process_network.hpp.
//
// The contract, which tests/cluster/contract_test.cpp checks for each implementation: order messages from one
//   node to another one arrive once, whole and in the order of their sending; messages of different pairs
//   have no order; sending any thread may send, also inside a receiver's function; send() never waits;
//   receiving the receiver is called by the thread that is in start(), wait() or stop(), and by no other;
//   ringing ring() ends a wait() that runs, otherwise the next one; several rings may end one wait; taken
//   taken_by() has reached the size of all messages soon after the node has got them; joining a node that
//   joins while the others run is reported by on_joined, before its first message; leaving a node that calls
//   stop() is reported to the others by on_left, after all its messages; a node that vanishes without stop()
//   is reported by on_lost, once. After either report nothing more arrives from that node.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace sukima::cluster {

/// The number of a node, from 0.
using node_id = std::uint32_t;
using bytes = std::vector<std::byte>;
using byte_view = std::span<const std::byte>;
using clock = std::chrono::steady_clock;

/// Bytes that may wait for one node before send() refuses more.
inline constexpr std::size_t most_queued = std::size_t{4} << 20;
/// Bytes of the largest message.
inline constexpr std::size_t largest_message = std::size_t{256} << 20;

/// The reason why a node cannot begin, as one sentence for the user.
struct start_failure : std::runtime_error {
  using std::runtime_error::runtime_error;
  start_failure(const std::string& message, int lost_node) : std::runtime_error(message), lost(lost_node) {}
  int lost = -1;  ///< the node that was lost while they met; -1: the reason is another one
};

/// The events of a transport, for its node.
class receiver {
 public:
  /// \param message is valid during the call
  virtual void on_message(node_id from, byte_view message) = 0;
  /// A new node has joined while the others run (transport_limits::takes_joins).
  virtual void on_joined(node_id /*node*/) {}
  /// Returns why no node can join now, as one sentence; empty: a node can.
  virtual std::string obstacle_to_joining() { return {}; }
  /// A node has left after its normal end. Also called for each number that is still free for a node that
  /// joins.
  virtual void on_left(node_id node) = 0;
  /// A node cannot be reached any more. \param why as the end of "node 2 was lost (…)"
  virtual void on_lost(node_id node, const std::string& why) = 0;
  /// This process was asked to leave (tcp_settings::leave_requests), by the thread that is in wait().
  virtual void on_leave_request() {}

 protected:
  ~receiver() = default;
};

/// The abilities of a transport.
struct transport_limits {
  bool sees_losses = false;  ///< on_lost is called when a node dies
  bool takes_joins = false;  ///< nodes may come while the others run
  /// Two nodes are connected only after one has a message for the other, so each node asks only a part of
  /// them.
  bool is_sparse = false;
};

class transport {
 public:
  transport() = default;
  transport(const transport&) = delete;
  transport& operator=(const transport&) = delete;
  virtual ~transport() = default;

  /// Meets all other nodes. \returns this node's number
  /// \param deadline when to give up
  /// \throws start_failure a node did not come, or is of another program
  virtual node_id start(receiver& to, clock::time_point deadline) = 0;
  /// Returns how many nodes there are, including this one and nodes that may still join.
  virtual unsigned nodes() const noexcept = 0;
  /// Sends a message. Never waits.
  /// \returns false: too much is queued for that node, and the message was not taken; or the node is gone
  /// \throws std::length_error it is longer than `largest_message`
  /// \pre after start(), before stop()
  virtual bool send(node_id to, bytes&& message) = 0;
  /// Sleeps until a message, a ring or that time, and delivers the messages that have arrived. Only one
  /// thread may call this.
  virtual void wait(clock::time_point until) = 0;
  /// Ends a wait. Any thread.
  virtual void ring() noexcept = 0;
  virtual transport_limits can() const noexcept = 0;
  /// Returns how many bytes sent to that node its machine has taken. The number grows as long as the
  /// connection makes progress, never falls, and stays constant after the node has left. In one process, and
  /// over MPI, whole messages are counted. Only for the thread that is in wait().
  virtual std::uint64_t taken_by(node_id to) = 0;
  /// Sends the queued messages, notifies the others that this node leaves, and ends. Gives up after that time
  /// without progress, unless nodes can only end together (MPI).
  virtual void stop(std::chrono::milliseconds patience) noexcept = 0;
};

}  // namespace sukima::cluster
