// SPDX-License-Identifier: Apache-2.0
// How this node leaves after its messages are sent.
#include "transport/progress_deadline.hpp"
#include "transport/tcp_transport.hpp"

#include <unistd.h>

#include <algorithm>

namespace sukima::cluster {

namespace asio = boost::asio;

namespace {

/// Pause between two checks for acknowledgements while a node leaves.
constexpr std::chrono::milliseconds between_looks{100};

}  // namespace

void tcp_transport::wait_for_leave_request() {
  leave_requests_.async_wait(asio::posix::stream_descriptor::wait_read, [this](error_code error) {
    std::uint64_t requests = 0;
    if (error) return;  // this node leaves
    if (read(leave_requests_.native_handle(), &requests, sizeof requests) == sizeof requests)
      receiver_->on_leave_request();
    wait_for_leave_request();
  });
}

void tcp_transport::stop(std::chrono::milliseconds patience) noexcept {
  leaving_ = true;
  warning_time_.cancel();
  error_code ignored;
  leave_requests_.close(ignored);
  beats_.stop_judging();
  progress_deadline end_of_calls(patience);
  progress_deadline end(patience);
  const auto go_on_while = [this](auto&& more, progress_deadline& until, auto&& steps) {
    // Acknowledgements raise no event, so this node polls.
    for (clock::time_point now = clock::now(); more() && now < until.after(steps(), now); now = clock::now())
      io_.run_one_until(now + between_looks);
  };
  const auto go_on_sending_while = [&](auto&& more) {
    go_on_while(more, end, [this] { return taken_by_all(); });
  };
  // This node sends heartbeats until its neighbours know that it leaves. Heartbeats do not count as progress.
  go_on_while([this] { return has_calls(); }, end_of_calls, [this] { return calls_.steps(); });
  beats_.stop();
  for (peer& p : peers_)
    if (p.connection != nullptr && !p.gone)
      p.connection->send(frame_kind::leave, byte_view{}, ~std::size_t{0});
  has_said_farewell_ = true;
  go_on_sending_while([this] { return is_sending(); });
  // If a socket is closed with unread input, the system discards data that the other side has not read yet.
  for (peer& p : peers_)
    if (p.connection != nullptr) p.connection->end_sending();
  go_on_sending_while([this] {
    for (const auto& c : late_)
      if (!c->is_sending()) c->end_sending();
    return is_connected();
  });
  close_all();
}

std::uint64_t tcp_transport::taken_by_all() {
  std::uint64_t sum = 0;
  for (node_id n = 0; n < peers_.size(); ++n) sum += taken_by(n);
  return sum;
}

bool tcp_transport::has_calls() {
  const std::lock_guard hold(links_);
  for (node_id n = 0; n < peers_.size(); ++n) {
    const peer& p = peers_[n];
    if (p.connection == nullptr && !p.gone && (!p.waiting.empty() || calls_.is_calling(n))) return true;
  }
  return false;
}

bool tcp_transport::is_sending() const {
  return std::any_of(unsuitable_.begin(), unsuitable_.end(), [](const auto& c) { return c->is_sending(); }) ||
         std::any_of(peers_.begin(), peers_.end(),
                     [](const peer& p) { return p.connection != nullptr && p.connection->is_sending(); });
}

bool tcp_transport::is_connected() const {
  return std::any_of(late_.begin(), late_.end(), [](const auto& c) { return !c->is_closed(); }) ||
         std::any_of(peers_.begin(), peers_.end(),
                     [](const peer& p) { return p.connection != nullptr && !p.connection->is_closed(); });
}

void tcp_transport::close_sockets() noexcept {
  error_code ignored;
  acceptor_.close(ignored);
  for (peer& p : peers_) {
    if (p.connection != nullptr) p.connection->close();
    if (const auto c = p.call.lock()) c->close();
  }
  for (const auto& c : unsuitable_) c->close();
  for (const auto& c : late_) c->close();
}

void tcp_transport::close_all() noexcept {
  close_sockets();
  io_.poll();
}

}  // namespace sukima::cluster
