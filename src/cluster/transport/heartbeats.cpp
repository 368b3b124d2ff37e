// SPDX-License-Identifier: Apache-2.0
#include "transport/heartbeats.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>

namespace sukima::cluster {

namespace {

/// In a ring of nodes: at most two apart.
bool are_neighbours(node_id a, node_id b, unsigned nodes) noexcept {
  const unsigned distance = (a + nodes - b) % nodes;
  return distance != 0 && std::min(distance, nodes - distance) <= 2;
}

}  // namespace

heartbeats::heartbeats(boost::asio::io_context& io, const tcp_settings& settings, events told)
    : io_(io), settings_(settings), told_(std::move(told)), timer_(io), silent_(settings.own.nodes) {}

void heartbeats::begin() {
  if (settings_.silent_beats != 0 && settings_.own.nodes > 1) beat();
}

void heartbeats::stop() noexcept {
  stopped_ = true;
  timer_.cancel();
}

void heartbeats::beat() {
  timer_.expires_after(settings_.heartbeat);
  timer_.async_wait([this](boost::system::error_code error) {
    // What has come meanwhile counts first: perhaps it was this node that stood still.
    if (!error) boost::asio::post(io_, [this] { look_for_silence(); });
  });
}

void heartbeats::look_for_silence() {
  for (node_id n = 0; n < silent_.size() && !stopped_; ++n) {
    if (!are_neighbours(n, settings_.own.node, settings_.own.nodes) || !told_.send(n)) continue;
    if (++silent_[n] > settings_.silent_beats) told_.on_silent(n);
  }
  if (!stopped_) beat();
}

}  // namespace sukima::cluster
