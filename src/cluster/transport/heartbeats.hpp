// SPDX-License-Identifier: Apache-2.0
// A node's heartbeats, and which of its neighbours are silent.
#pragma once

#include "transport/tcp.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <functional>
#include <vector>

namespace sukima::cluster {

/// Beats go to at most four neighbours in the ring of nodes: on each side the first two that are there. A
/// node counts its own beats in which it received nothing from one of them, so a machine that stood still as
/// a whole loses no node. It is used by the thread that runs `io`.
class heartbeats {
 public:
  struct events {
    /// Sends a heartbeat. \param asks  for an answer \returns whether that node is there
    std::function<bool(node_id, bool asks)> send;
    /// A node has sent nothing for the whole time.
    std::function<void(node_id)> on_silent;
  };
  /// `settings`: of the transport, which outlives this
  heartbeats(boost::asio::io_context& io, const tcp_settings& settings, events handlers);

  /// Does nothing if no silence is too long, or this node is the only one.
  void begin();
  /// No event comes after this.
  void stop() noexcept;
  /// Something came from a node.
  void reset_silence(node_id node) noexcept { silent_[node] = 0; }

 private:
  void beat();
  void look_for_silence();
  /// \param step  to the next node on that side \param farthest  the last distance there
  void look_on_side(node_id step, node_id farthest);

  boost::asio::io_context& io_;
  const tcp_settings& settings_;
  events handlers_;
  boost::asio::steady_timer timer_;
  std::vector<unsigned> silent_;  ///< by node: beats of this one since something came
  bool stopped_ = false;
};

}  // namespace sukima::cluster
