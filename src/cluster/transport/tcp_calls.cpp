// SPDX-License-Identifier: Apache-2.0
// Calls among many nodes: if a node has a message for another one and no connection to it, it calls that node
// (calls.hpp). A call that fails is repeated until it succeeds or the other node is gone. Neighbours in the
// ring keep their connections and exchange heartbeats.
#include "transport/tcp_transport.hpp"

#include <algorithm>

namespace sukima::cluster {

namespace {

/// How long a node waits for the call of another node before it repeats its own.
constexpr std::chrono::seconds waiting_time{1};

}  // namespace

bool tcp_transport::set_gone(node_id node) {
  peer& p = peers_[node];
  if (std::exchange(p.gone, true)) return false;
  end_call(node);
  const std::lock_guard hold(links_);
  p.can_be_called = false;
  p.waiting = {};
  p.waiting_size = 0;
  return true;
}

void tcp_transport::know_address(node_id node, const member& at) {
  peers_[node].at = at;
  const std::lock_guard hold(links_);
  peers_[node].can_be_called = is_sparse_ && at.port != 0 && !peers_[node].gone;
}

void tcp_transport::take_as_peer(tcp_connection& c) {
  const node_id node = c.peer().node;
  peer& p = peers_[node];
  end_call(node, &c);
  know_address(node, member_of(chosen_, c));
  beats_.reset_silence(node);
  {
    const std::lock_guard hold(links_);
    p.connection = c.shared_from_this();
    for (bytes& message : p.waiting) c.send(frame_kind::data, std::move(message), ~std::size_t{0});
    p.waiting = {};
    p.waiting_size = 0;
  }
  if (!is_sparse_ || meeting_) return;
  for (node_id n = 0; n < peers_.size(); ++n)
    if (peers_[n].gone && !peers_[n].is_free)
      c.send(frame_kind::gone, gone_frame(n, peers_[n].has_left), ~std::size_t{0});
  if (!has_said_farewell_) return;
  c.send(frame_kind::leave, byte_view{}, ~std::size_t{0});
  late_.push_back(c.shared_from_this());
}

void tcp_transport::end_call(node_id node, const tcp_connection* keep) {
  calls_.end(node);
  const auto c = std::exchange(peers_[node].call, {}).lock();
  if (c != nullptr && c.get() != keep) c->close();
}

void tcp_transport::answer(tcp_connection& c, calls::answer given) {
  const std::byte content{static_cast<std::uint8_t>(given)};
  if (is_sparse_) c.send(frame_kind::answer, byte_view(&content, 1), most_queued);
}

void tcp_transport::take_answer(tcp_connection& c, const frame& f) {
  const node_id node = c.peer().node;
  if (f.kind != frame_kind::answer || f.content.size() != 1)
    throw frame_error("it sent another frame instead of the answer to a call");
  if (f.content.front() == std::byte{static_cast<std::uint8_t>(calls::answer::wait)}) {
    const bool waits = calls_.wait_for(node);
    c.close();
    if (peers_[node].has_left)
      let_go(node);
    else if (!waits)
      call(node);
    else
      after(waiting_time, [this, node] {
        if (calls_.is_waiting_for(node)) call_in_doubt(node);
      });
  } else if (peers_[node].is_free && !leaving_) {
    admit(c);
  } else if (!peers_[node].gone && peers_[node].connection == nullptr) {
    take_as_peer(c);
  } else {
    c.close();
  }
}

void tcp_transport::keep_ring() {
  if (!is_sparse_ || leaving_) return;
  visit_neighbours(chosen_.own.node, chosen_.own.nodes, [this](node_id n, node_id) {
    if (peers_[n].gone) return false;
    call(n);
    return true;
  });
}

void tcp_transport::call(node_id to) {
  const peer& p = peers_[to];
  if (p.gone || p.connection != nullptr) return;
  if (const std::uint64_t number = calls_.begin(to)) dial({to, number});
}

void tcp_transport::call_in_doubt(node_id node) {
  calls_.doubt(node);
  call(node);
}

void tcp_transport::dial(call_id one) {
  const member& at = peers_[one.to].at;
  find_addresses(resolver_, chosen_, at.host, at.port, [this, one](std::vector<tcp::endpoint> places) {
    if (!calls_.is_current(one.to, one.number)) return;
    calls_.pause(one.to, false);
    dial_next(one, std::move(places), places.empty() ? call_failure::no_means : call_failure::no_protocol);
  });
}

void tcp_transport::dial_next(call_id one, std::vector<tcp::endpoint> places, call_failure worst) {
  if (places.empty()) {
    attempt_failed(one, worst, "no program listens there");
    return;
  }
  const tcp::endpoint place = places.front();
  places.erase(places.begin());
  const auto socket = std::make_shared<tcp::socket>(io_);
  const auto connected = [this, one, socket, places, worst](error_code ended) {
    if (!calls_.is_current(one.to, one.number)) return;
    if (!ended)
      begin(std::move(*socket), handshake::role::connector, one.to, {}, {}, one.number);
    else
      dial_next(one, places, std::max(worst, failure_of(ended)));
  };
  error_code error;
  socket->open(place.protocol(), error);
  if (error) {
    connected(error);
    return;
  }
  // If programs that this one starts inherited the socket, they would hide the end of this node.
  keep_from_children(socket->native_handle());
  socket->async_connect(place, connected);
  after(calling_time, [weak = std::weak_ptr(socket)] {
    // The operation owns the socket until it ends.
    if (const auto late = weak.lock(); late != nullptr && late->is_open()) late->close();
  });
}

void tcp_transport::dial_later(call_id one) {
  calls_.pause(one.to, true);
  after(between_attempts, [this, one] {
    if (calls_.is_current(one.to, one.number)) dial(one);
  });
}

void tcp_transport::attempt_failed(call_id one, call_failure how, const std::string& why) {
  if (how == call_failure::no_means) beats_.reset_silence(one.to);  // says nothing about that node
  if (peers_[one.to].has_left)
    let_go(one.to);  // it did not accept the call, so it has sent nothing
  else if (how != call_failure::refused)
    dial_later(one);
  else if (leaving_)
    set_gone(one.to);  // that node has ended, too
  else if (chosen_.survives_losses)
    lose(one.to, "it cannot be reached: " + why);
  else
    dial_later(one);  // until the news of its end arrives
}

void tcp_transport::call_ended(const tcp_connection& c, call_id one, const std::string& why) {
  if (!calls_.is_current(one.to, one.number)) return;
  const bool has_ended = c.is_refused() || (c.is_proved() && leaving_);
  if (c.is_proved() && chosen_.survives_losses && !leaving_ && !peers_[one.to].has_left)
    lose(one.to, "it considers this node lost", {});
  else
    attempt_failed(one, has_ended ? call_failure::refused : call_failure::no_way, why);
}

}  // namespace sukima::cluster
