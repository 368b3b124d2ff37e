// SPDX-License-Identifier: Apache-2.0
// The meeting: node 0 listens. The others connect to it and send the addresses where they listen themselves.
// When all have connected, node 0 sends the list of addresses, and each node connects to those with lower
// numbers. If there are many nodes (sparse_graph.hpp), each connects only to its neighbours in the list.
#include "transport/tcp_transport.hpp"

#include <boost/asio/connect.hpp>

#include <unistd.h>

#include <algorithm>

namespace sukima::cluster {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

/// Additional time to wait for node 0's list. Node 0 sends the list when its own time for the meeting ends,
/// which may begin later by this much. After that the others connect to the nodes in the list.
constexpr std::chrono::seconds listing_time{30};
constexpr std::chrono::seconds connecting_time{2};

/// Whether another attempt may succeed, because node 0 or its host's network may not have started yet. If
/// there are several addresses, the error is that of the last one, even if this machine lacks its protocol.
bool may_come_yet(const error_code& error) noexcept {
  return error == asio::error::connection_refused || error == asio::error::host_unreachable ||
         error == asio::error::network_unreachable || error == asio::error::address_family_not_supported ||
         error == boost::system::errc::address_not_available;
}

}  // namespace

clock::time_point tcp_transport::end_of_meeting() const {
  if (!chosen_.survives_losses || chosen_.own.node == 0) return deadline_;
  if (is_listed_) return std::max(deadline_, listed_at_ + connecting_time);
  return peers_[lister()].connection != nullptr ? deadline_ + listing_time : deadline_;
}

std::size_t tcp_transport::missing() const noexcept {
  std::size_t count = 0;
  for (node_id n = 0; n < peers_.size(); ++n)
    if (n != chosen_.own.node && peers_[n].connection == nullptr && !peers_[n].gone && is_awaited(n)) ++count;
  return count;
}

void tcp_transport::look_for_ended_nodes() {
  std::vector<char> ended(peers_.size());
  const ssize_t size = pread(chosen_.ended_nodes, ended.data(), ended.size(), 0);
  for (node_id n = 0; static_cast<ssize_t>(n) < size; ++n)
    if (ended[n] != 0 && peers_[n].connection == nullptr) lose(n, "it has ended", {});
  looks_.expires_after(between_attempts);
  looks_.async_wait([this](error_code error) {
    if (!error && meeting_) look_for_ended_nodes();
  });
}

void tcp_transport::lose_missing(const std::string& why) {
  for (node_id n = 0; n < peers_.size(); ++n)
    if (peers_[n].connection == nullptr && (is_awaited(n) || peers_[n].at.port == 0)) lose(n, why, {});
}

void tcp_transport::accept() {
  acceptor_.async_accept([this](error_code error, tcp::socket socket) {
    if (!acceptor_.is_open()) return;
    if (error) {
      accept_later();
      return;
    }
    close_oldest_guests();
    begin(std::move(socket), handshake::role::acceptor, chosen_.own.node, {}, {});
    accept();
  });
}

void tcp_transport::accept_later() {
  accepting_time_.expires_after(between_attempts);
  accepting_time_.async_wait([this](error_code ended) {
    if (!ended && acceptor_.is_open()) accept();
  });
}

void tcp_transport::close_oldest_guests() {
  std::vector<std::shared_ptr<tcp_connection>> unproved;
  for (const auto& guest : guests_)
    if (auto c = guest.lock();
        c != nullptr && !c->is_proved() && !c->is_closed() && c->side() == handshake::role::acceptor)
      unproved.push_back(std::move(c));
  const std::size_t most = chosen_.most_unproved + chosen_.own.nodes;
  for (std::size_t n = 0; n + most <= unproved.size(); ++n) unproved[n]->close();
}

void tcp_transport::close_to_guests() noexcept {
  error_code ignored;
  acceptor_.close(ignored);
  for (const auto& guest : guests_)
    if (const auto c = guest.lock(); c != nullptr && !is_peer(*c)) c->close();
  guests_.clear();
}

void tcp_transport::connect(node_id to, const std::string& host, std::uint16_t port) {
  std::vector<tcp::endpoint> places;
  try {
    places = addresses_of(io_, chosen_, host, port);
  } catch (const start_failure& failure) {
    // Other nodes may be able to resolve the name of node 0. If this node cannot, the user made a mistake, so
    // it does not continue alone.
    if ((chosen_.survives_losses || chosen_.sponsor) && to != lister())
      fail_to_reach(to, {}, failure.what());
    else
      fail(failure.what());
    return;
  }
  connect_to_one(to, places, "node " + std::to_string(to) + " at " + host + ":" + std::to_string(port));
}

void tcp_transport::connect_to_one(node_id to, const std::vector<tcp::endpoint>& places,
                                   const std::string& name) {
  auto socket = std::make_shared<tcp::socket>(io_);
  asio::async_connect(*socket, places,
                      [this, socket, to, places, name](error_code error, const tcp::endpoint&) {
                        if (!error) {
                          unreached_.clear();
                          begin(std::move(*socket), handshake::role::connector, to, name, places);
                        } else if (peers_[to].gone) {
                          return;
                        } else if (may_come_yet(error) && clock::now() < deadline_ && !chosen_.sponsor &&
                                   (to == lister() || !chosen_.survives_losses)) {
                          unreached_ = name + " cannot be reached: " + error.message();
                          connect_later(to, places, name);
                        } else {
                          fail_to_reach(to, name, " cannot be reached: " + error.message());
                        }
                      });
}

void tcp_transport::connect_later(node_id to, const std::vector<tcp::endpoint>& places,
                                  const std::string& name) {
  auto timer = std::make_shared<asio::steady_timer>(io_, between_attempts);
  timer->async_wait([this, timer, to, places, name](error_code ended) {
    if (!ended && !peers_[to].gone) connect_to_one(to, places, name);
  });
}

void tcp_transport::fail_to_reach(node_id node, const std::string& name, const std::string& why) {
  if (chosen_.survives_losses)
    lose(node, why);
  else if (chosen_.sponsor)
    go_on_without(node);
  else
    fail(name + why, static_cast<int>(node));
}

void tcp_transport::begin(tcp::socket socket, handshake::role side, node_id expected, const std::string& name,
                          const std::vector<tcp::endpoint>& places, std::uint64_t call) {
  keep_from_children(socket.native_handle());
  tcp_connection::events handlers;
  handlers.on_open = [this, side, expected, call](tcp_connection& c) {
    // Another program may now use the port of a node that is gone.
    if ((call == 0 || c.obstacle().empty()) && opened(c, side, expected)) return true;
    if (call != 0 && calls_.is_current(expected, call))
      attempt_failed({.to = expected, .number = call}, call_failure::refused, "another node answers there");
    return false;
  };
  handlers.on_frame = [this](tcp_connection& c, const frame& f) { take(c, f); };
  handlers.on_bytes = [this, expected, call](tcp_connection& c) {
    if (is_peer(c))
      beats_.reset_silence(c.peer().node);
    else if (call != 0 && calls_.is_current(expected, call))
      calls_.count_arrival(expected);
  };
  handlers.on_closed = [this, expected, name, places, call](tcp_connection& c, const std::string& why) {
    if (call != 0 && !is_peer(c)) {
      call_ended(c, {.to = expected, .number = call}, why);
      return;
    }
    const bool is_unproved = !is_peer(c) && !c.is_refused() && !c.is_proved() && !name.empty();
    // The other node may have too many unproved connections at present.
    if (is_unproved && meeting_ && !peers_[expected].gone && clock::now() < deadline_) {
      unreached_ = name + ": " + why;
      connect_later(expected, places, name);
      return;
    }
    closed(c, expected, name, why);
  };
  auto made = std::make_shared<tcp_connection>(
      io_, std::move(socket), handshake(side, chosen_.own, chosen_.token), std::move(handlers));
  // An expired weak pointer still occupies the memory of its connection.
  std::erase_if(guests_, [](const auto& guest) { return guest.expired(); });
  guests_.push_back(made);
  if (call != 0) peers_[expected].call = made;
  if (side == handshake::role::acceptor)
    made->begin_within(chosen_.proving_time);
  else if (call != 0)
    made->begin_within(calling_time);
  else
    made->begin();
}

bool tcp_transport::opened(tcp_connection& c, handshake::role side, node_id expected) {
  const node_id node = c.peer().node;
  const bool joins = c.peer().asks_for_place() || (node < peers_.size() && peers_[node].is_free &&
                                                   (side == handshake::role::acceptor || node == expected));
  if (joins && leaving_ && (c.peer().asks_for_place() || side == handshake::role::connector)) return false;
  const std::string obstacle = c.obstacle();
  if (!obstacle.empty()) {
    if (!joins) fail(obstacle);  // the run does not depend on nodes that join
    std::erase_if(unsuitable_, [](const auto& old) { return old->is_closed(); });
    unsuitable_.push_back(c.shared_from_this());
    return true;  // closed after the other side has received the reason
  }
  if (c.peer().asks_for_place()) {
    if (meeting_)
      asking_.push_back(c.shared_from_this());
    else
      answer_with_place(c);
    return true;  // the other side closes it
  }
  if (is_sparse_ && side == handshake::role::connector && node == expected)
    return true;  // this node waits for the answer
  if (joins && leaving_) {  // the joining node's list may contain this node
    answer(c, calls::answer::taken);
    c.send(frame_kind::leave, byte_view{}, ~std::size_t{0});
    late_.push_back(c.shared_from_this());
    return true;
  }
  if (joins) {
    answer(c, calls::answer::taken);
    admit(c);
    return true;
  }
  if (peers_[node].gone) return false;  // this node considers it gone
  if (is_sparse_ && !meeting_ && peers_[node].connection != nullptr)
    return false;  // the other node has dropped this call
  if (peers_[node].connection != nullptr || (side == handshake::role::connector && node != expected)) {
    fail("two nodes have the number " + std::to_string(node));
    return false;
  }
  if (is_sparse_) {
    const calls::answer given = calls_.answer_to(node);
    answer(c, given);
    if (given == calls::answer::wait) return true;  // the other side closes it
  }
  take_as_peer(c);
  if (chosen_.own.node == 0 && missing() == 0) send_members();
  return true;
}

bytes tcp_transport::members() const {
  std::vector<member> list;
  for (node_id n = 1; n < peers_.size(); ++n) list.push_back(is_there(n) ? peers_[n].at : member{});
  return write_members(list);
}

void tcp_transport::send_members() {
  if (std::exchange(has_sent_members_, true)) return;
  for (node_id n = 1; n < peers_.size(); ++n)
    if (!peers_[n].gone) peers_[n].connection->send(frame_kind::members, members(), most_queued);
}

void tcp_transport::take_members(byte_view list) {
  is_listed_ = true;
  listed_at_ = clock::now();
  if (chosen_.sponsor) {
    take_members_of_run(list);
    return;
  }
  for (node_id n = 0; const member& m : read_members(list, chosen_.own.nodes - 1)) {
    if (++n == chosen_.own.node) continue;
    if (m.port != 0) know_address(n, m);
    // One by one, because a name service may be slow, and heartbeats are sent in between.
    if (n < chosen_.own.node && m.port != 0 && is_awaited(n))
      asio::post(io_, [this, n, m] {
        if (!peers_[n].gone) connect(n, m.host, m.port);
      });
    // Nodes that join are not in the list made at the start.
    if (m.port == 0 && n < first_free()) lose(n, "node 0 considers it lost", {});
  }
}

}  // namespace sukima::cluster
