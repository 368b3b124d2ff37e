// SPDX-License-Identifier: Apache-2.0
#include "transport/heartbeats.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace sukima::cluster {

namespace {

constexpr node_id neighbours = 2;  ///< on each side

}  // namespace

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
    // Bytes that have arrived until now count first: perhaps this node itself stood still.
    if (!error) boost::asio::post(io_, [this] { look_for_silence(); });
  });
}

void heartbeats::look_for_silence() {
  const node_id nodes = own_.nodes;
  look_on_side(1, nodes / 2);
  look_on_side(nodes - 1, (nodes - 1) / 2);
  if (!stopped_) beat();
}

void heartbeats::look_on_side(node_id step, node_id farthest) {
  node_id found = 0;
  for (node_id distance = 1; distance <= farthest && found < neighbours && !stopped_; ++distance) {
    const node_id n = (own_.node + distance * step) % own_.nodes;
    // For one that takes the place of a neighbour, that may still be there: then it sends nothing by itself.
    if (!handlers_.send(n, distance > neighbours)) continue;
    ++found;
    if (++silent_[n] > settings_.silent_beats) handlers_.on_silent(n);
  }
}

}  // namespace sukima::cluster
