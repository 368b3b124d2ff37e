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
  std::chrono::milliseconds period{500};  ///< between two heartbeats of a node
  /// A neighbour counts as lost after this number of own beats without a message. 0: never.
  unsigned silent_beats = 10;
};

/// A node sends heartbeats to at most four neighbours in the ring of nodes: the first two living ones on each
/// side. It counts its own beats during which nothing arrived from a neighbour. It does not measure time, so
/// no node counts as lost because the whole machine stood still. Only the thread that runs `io` uses this
/// class.
class heartbeats {
 public:
  struct events {
    /// Sends a heartbeat. \param asks whether that node should answer \returns whether that node is there
    std::function<bool(node_id, bool asks)> send;
    /// Called if nothing arrived from a node for the whole time.
    std::function<void(node_id)> on_silent;
  };
  /// \param own  this node; outlives this object
  heartbeats(boost::asio::io_context& io, const identity& own, heartbeat_settings settings, events handlers);

  /// Begins the beats. Does nothing if silence never counts, or if this node is the only one.
  void begin();
  /// Continues the beats, but no longer calls `on_silent`.
  void stop_judging() noexcept { judges_ = false; }
  /// Ends the beats. No function of `events` is called after this.
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
  std::vector<unsigned> silent_;  ///< by node: beats of this one since something came
  bool judges_ = true;
  bool stopped_ = false;
};

}  // namespace sukima::cluster
