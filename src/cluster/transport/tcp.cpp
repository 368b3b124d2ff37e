// SPDX-License-Identifier: Apache-2.0
// Sends and receives messages and frames after the nodes have met.
#include "transport/tcp_transport.hpp"

#include <base/shared/limit_advice.hpp>

#include <boost/system/system_error.hpp>

#include <fcntl.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace sukima::cluster {

namespace asio = boost::asio;

tcp_transport::tcp_transport(tcp_settings chosen)
    : chosen_(std::move(chosen)),
      work_(io_.get_executor()),
      resolver_(io_),
      acceptor_(io_),
      accepting_time_(io_),
      beats_(io_, chosen_.own, chosen_.heartbeat,
             {.send = [this](node_id n, bool asks) { return send_beat(n, asks); },
              .on_silent =
                  [this](node_id n) {
                    // A node that does not respond sends no list.
                    if (!meeting_ || (chosen_.survives_losses && n == lister() && !is_listed_))
                      lose_silent(n);
                  }}),
      looks_(io_),
      warning_time_(io_),
      leave_requests_(io_),
      is_sparse_(chosen_.own.nodes > chosen_.most_meshed),
      calls_(chosen_.own.node, chosen_.own.nodes),
      peers_(chosen_.own.nodes),
      next_place_(first_free()),
      is_listed_(chosen_.own.node == 0) {
  for (node_id n = first_free(); n < peers_.size(); ++n)
    if (n != chosen_.own.node && n != lister()) peers_[n].gone = peers_[n].is_free = true;
}

node_id tcp_transport::start(receiver& to, clock::time_point deadline) {
  receiver_ = &to;
  deadline_ = deadline;
  listen_at(io_, acceptor_, chosen_);
  accept();
  for (node_id n = 0; n < peers_.size(); ++n)
    if (peers_[n].is_free) receiver_->on_left(n);
  if (chosen_.own.node != 0) connect(lister(), chosen_.host, chosen_.port);
  if (chosen_.survives_losses && chosen_.ended_nodes >= 0) {
    keep_from_children(chosen_.ended_nodes);
    look_for_ended_nodes();
  }
  beats_.begin();  // other nodes may have met already, and only heartbeats show them that this node is alive
  while (failure_.empty() && !has_met() && clock::now() < end_of_meeting())
    io_.run_one_until(end_of_meeting());
  if (failure_.empty() && !has_met()) {
    if (chosen_.sponsor && !is_listed_)
      fail_without_list();
    else if (chosen_.survives_losses)
      lose_missing("it did not connect in time");
    else
      end_meeting_without_newcomers();
  }
  // The other side must receive the end of the handshake, the list of nodes, or the reason for a failure.
  const auto least = clock::now() + std::chrono::seconds(1);
  const auto end = failure_.empty() ? std::max(deadline, least) : least;
  while (is_sending() && clock::now() < end) io_.run_one_until(end);
  if (!failure_.empty()) {
    close_all();
    throw start_failure(failure_, lost_at_meeting_);
  }
  if (chosen_.room == 0 && !is_sparse_) close_to_guests();
  looks_.cancel();
  for (node_id n = 0; n < peers_.size(); ++n) beats_.reset_silence(n);  // silence counts from now on
  meeting_ = false;
  keep_ring();
  for (const auto& c : std::exchange(asking_, {}))
    if (!c->is_closed()) answer_with_place(*c);
  if (const int requests = fcntl(chosen_.leave_requests, F_DUPFD_CLOEXEC, 0); requests >= 0) {
    leave_requests_.assign(requests);
    wait_for_leave_request();
  }
  return chosen_.own.node;
}

bool tcp_transport::send(node_id to, bytes&& message) {
  if (message.size() > largest_message) throw std::length_error("sukima: a message is too long");
  const std::lock_guard hold(links_);
  peer& p = peers_[to];
  if (p.connection != nullptr) return p.connection->send(frame_kind::data, std::move(message), most_queued);
  if (!p.can_be_called || p.waiting_size > most_queued) return false;
  p.waiting_size += message.size();
  p.waiting.push_back(std::move(message));
  if (p.waiting.size() == 1) asio::post(io_, [this, to] { call(to); });
  return true;
}

void tcp_transport::wait(clock::time_point until) {
  std::vector<early_frame> early;
  early.swap(early_);
  for (const early_frame& e : early)
    if (!peers_[e.from].gone || e.content.kind == frame_kind::gone) deliver(e.from, e.content);
  if (early.empty()) io_.run_one_until(until);
  io_.poll();
}

void tcp_transport::take(tcp_connection& c, const frame& f) {
  if (is_sparse_ && !is_peer(c) && c.side() == handshake::role::connector) {
    take_answer(c, f);
    return;
  }
  if (!is_peer(c) || peers_[c.peer().node].gone) return;
  if (f.kind == frame_kind::alive) {
    if (!f.content.empty()) send_beat(c.peer().node, false);
    return;
  }
  if (f.kind == frame_kind::lost) {
    take_report(c.peer().node, f.content);
    return;
  }
  if (f.kind == frame_kind::place) {
    const auto next = byte_source(f.content).number<std::uint32_t>();
    if (next <= next_place_) return;
    next_place_ = next;
    if (is_sparse_) send_next_place_to_all();
    return;
  }
  if (f.kind == frame_kind::members && (meeting_ || chosen_.survives_losses) && c.peer().node == lister()) {
    if (meeting_) take_members(f.content);  // later this node could not wait for the nodes in it
    return;
  }
  if (f.kind != frame_kind::data && f.kind != frame_kind::leave &&
      (f.kind != frame_kind::gone || !is_sparse_))
    throw frame_error("it sent a start-up frame after the start");
  if (f.kind == frame_kind::gone) static_cast<void>(read_news(f.content));  // wait() would throw its error
  if (meeting_)
    early_.push_back({c.peer().node, f});
  else
    deliver(c.peer().node, f);
}

void tcp_transport::deliver(node_id from, const frame& f) {
  if (f.kind == frame_kind::data) {
    receiver_->on_message(from, f.content);
    return;
  }
  if (f.kind == frame_kind::gone) {
    take_news(f.content);
    return;
  }
  let_go(from);
}

bool tcp_transport::send_beat(node_id to, bool asks) {
  const peer& p = peers_[to];
  if (p.gone || (p.connection == nullptr && (meeting_ || !is_sparse_))) return false;
  if (p.connection == nullptr) {  // it counts as silent until it is reached
    if (!leaving_) call(to);
    return true;
  }
  const std::byte question{1};
  p.connection->send(frame_kind::alive, asks ? byte_view(&question, 1) : byte_view{}, most_queued);
  return true;
}

void tcp_transport::fail(const std::string& why, int lost) {
  if (!failure_.empty()) return;
  failure_ = why;
  lost_at_meeting_ = lost;
}

std::unique_ptr<transport> make_tcp_transport(tcp_settings chosen) {
  chosen.own.omits = chosen.survives_losses;
  try {
    return std::make_unique<tcp_transport>(std::move(chosen));
  } catch (const boost::system::system_error& error) {  // of a descriptor that the event loop needs
    throw start_failure("no event loop can be made: " + error.code().message() +
                        std::string(advice_on_limit(error.code().value())));
  }
}

}  // namespace sukima::cluster
