// SPDX-License-Identifier: Apache-2.0
#include "transport/heartbeats.hpp"

#include "transport/sparse_graph.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace sukima::cluster {

heartbeats::heartbeats(boost::asio::io_context& io, const identity& own, heartbeat_settings settings,
                       events handlers)
    : io_(io),
      own_(own),
      settings_(settings),
      handlers_(std::move(handlers)),
      timer_(io),
      silent_(own.nodes) {}

void heartbeats::begin() {
  if (settings_.silent_beats != 0 && own_.nodes > 1) beat();
}

void heartbeats::stop() noexcept {
  stopped_ = true;
  timer_.cancel();
}

void heartbeats::beat() {
  timer_.expires_after(settings_.period);
  timer_.async_wait([this](boost::system::error_code error) {
    // First handle bytes that have already arrived: this node itself may have been stopped.
    if (!error) boost::asio::post(io_, [this] { look_for_silence(); });
  });
}

void heartbeats::look_for_silence() {
  visit_neighbours(own_.node, own_.nodes, [this](node_id n, node_id far) {
    // A node that replaces a gone neighbour may not know of that loss; it then sends nothing unless it is
    // asked.
    if (stopped_ || !handlers_.send(n, far > neighbours_on_a_side)) return false;
    if (judges_ && ++silent_[n] > settings_.silent_beats) handlers_.on_silent(n);
    return true;
  });
  if (!stopped_) beat();
}

}  // namespace sukima::cluster
