// SPDX-License-Identifier: Apache-2.0
// A node's heartbeats, and the detection of silent neighbours.
#pragma once

#include "protocol/handshake.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <functional>
#include <vector>

namespace sukima::cluster {

struct heartbeat_settings {
  std::chrono::milliseconds period{500};  ///< time between two heartbeats of a node
  /// A neighbour counts as lost after this number of own heartbeats without a message from it. 0: never.
  unsigned silent_beats = 10;
};

/// A node sends heartbeats to at most four neighbours in the ring of nodes: the first two living ones on each
/// side. It counts its own heartbeats during which nothing arrived from a neighbour. It does not measure
/// time, so no node counts as lost because the whole machine stood still. Only the thread that runs `io` uses
/// this class.
class heartbeats {
 public:
  struct events {
    /// Sends a heartbeat. \param asks whether that node should answer \returns whether that node is in the
    /// run
    std::function<bool(node_id, bool asks)> send;
    /// Called if nothing arrived from a node during `silent_beats` heartbeats.
    std::function<void(node_id)> on_silent;
  };
  /// \param own  the identity of this node; outlives this object
  heartbeats(boost::asio::io_context& io, const identity& own, heartbeat_settings settings, events handlers);

  /// Starts the heartbeats. Does nothing if this node is the only one, or if silence never counts as a loss.
  void begin();
  /// Continues the heartbeats, but no longer calls `on_silent`.
  void stop_judging() noexcept { judges_ = false; }
  /// Stops the heartbeats. No function of `events` is called after this.
  void stop() noexcept;
  /// Records that something arrived from a node.
  void reset_silence(node_id node) noexcept { silent_[node] = 0; }

 private:
  void beat();
  void look_for_silence();

  boost::asio::io_context& io_;
  const identity& own_;
  heartbeat_settings settings_;
  events handlers_;
  boost::asio::steady_timer timer_;
  std::vector<unsigned> silent_;  ///< by node: heartbeats of this node since the last arrival
  bool judges_ = true;
  bool stopped_ = false;
};

}  // namespace sukima::cluster
