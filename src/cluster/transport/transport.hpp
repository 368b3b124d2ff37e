// SPDX-License-Identifier: Apache-2.0
// How the nodes of a cluster exchange messages. Implementations: tcp.hpp, mpi_plugin.hpp, and for tests
// tests/cluster/in_process_network.hpp.
//
// The contract, which tests/cluster/contract_test.cpp checks for each implementation:
//
//   order      messages from one node to another arrive once, whole and in the order in which they were sent;
//              messages of different pairs have no order
//   sending    any thread may send, also inside a receiver's function; send() never waits
//   receiving  only the thread that is in start(), wait() or stop() calls the receiver
//   ringing    ring() ends the present wait(), or else the next one; several rings may end one wait
//   taken      taken_by() reaches the size of all messages soon after the node has received them
//   joining    if a node joins while the others run, on_joined reports it before its first message
//   leaving    if a node calls stop(), on_left reports it to the others after all its messages; if a node
//              vanishes without stop(), on_lost reports it once. No message follows either report
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace sukima::cluster {

/// The number of a node, beginning with 0.
using node_id = std::uint32_t;
using bytes = std::vector<std::byte>;
using byte_view = std::span<const std::byte>;
using clock = std::chrono::steady_clock;

/// Number of bytes that may be queued for one node; if more are queued, send() refuses.
inline constexpr std::size_t most_queued = std::size_t{4} << 20;
/// Size of the largest message, in bytes.
inline constexpr std::size_t largest_message = std::size_t{256} << 20;

/// Thrown if a node cannot begin; the message is one sentence for the user.
struct start_failure : std::runtime_error {
  using std::runtime_error::runtime_error;
  start_failure(const std::string& message, int lost_node) : std::runtime_error(message), lost(lost_node) {}
  int lost = -1;  ///< the node that was lost while they met; -1: the reason is another one
};

/// Receives the events of a transport.
class receiver {
 public:
  /// \param message is valid during the call only
  virtual void on_message(node_id from, byte_view message) = 0;
  /// A new node has joined while the others run (transport_limits::takes_joins).
  virtual void on_joined(node_id /*node*/) {}
  /// Returns why no node can join now, as one sentence; empty: a node can join.
  virtual std::string obstacle_to_joining() { return {}; }
  /// A node has left after its normal end. Also called for each number that is still free for a node that
  /// joins.
  virtual void on_left(node_id node) = 0;
  /// A node cannot be reached any more. \param why as the end of "node 2 was lost (…)"
  virtual void on_lost(node_id node, const std::string& why) = 0;
  /// This process was requested to leave (tcp_settings::leave_requests). Called by the thread that is in
  /// wait().
  virtual void on_leave_request() {}

 protected:
  ~receiver() = default;
};

/// The features of a transport.
struct transport_limits {
  bool sees_losses = false;  ///< on_lost is called when a node dies
  bool takes_joins = false;  ///< nodes may join while the others run
  /// Two nodes are connected only after one has a message for the other, so each node requests tasks only
  /// from some of the others.
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
  /// \throws start_failure a node did not arrive, or runs another program
  virtual node_id start(receiver& to, clock::time_point deadline) = 0;
  /// Returns the number of nodes, including this one and nodes that may still join.
  virtual unsigned nodes() const noexcept = 0;
  /// Sends a message. Never waits.
  /// \returns false: too much is queued for that node, and the message was not taken; or the node is gone
  /// \throws std::length_error it is longer than `largest_message`
  /// \pre after start(), before stop()
  virtual bool send(node_id to, bytes&& message) = 0;
  /// Sleeps until a message arrives, ring() is called or that time has come, and delivers the messages that
  /// have arrived. Only one thread may call this.
  virtual void wait(clock::time_point until) = 0;
  /// Ends a wait. Any thread may call this.
  virtual void ring() noexcept = 0;
  virtual transport_limits can() const noexcept = 0;
  /// Returns how many of the bytes sent to that node its machine has received. The number grows while the
  /// connection makes progress, never falls, and stays constant after the node has left. Within one process,
  /// and over MPI, whole messages are counted. Only for the thread that is in wait().
  virtual std::uint64_t taken_by(node_id to) = 0;
  /// Sends the queued messages, notifies the others that this node leaves, and ends. Gives up after that time
  /// without progress, unless nodes can only end together (MPI).
  virtual void stop(std::chrono::milliseconds patience) noexcept = 0;
};

}  // namespace sukima::cluster
