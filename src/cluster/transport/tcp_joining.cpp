// SPDX-License-Identifier: Apache-2.0
// How nodes accept a node that joins (tcp_place.hpp), and how that node meets them.
#include "transport/tcp_transport.hpp"

#include <algorithm>

namespace sukima::cluster {

namespace asio = boost::asio;

bool tcp_transport::is_newcomer_beside(node_id node) const noexcept {
  return chosen_.sponsor && !chosen_.survives_losses && node >= first_free();
}

void tcp_transport::end_meeting_without_newcomers() {
  for (node_id n = first_free(); n < peers_.size(); ++n)
    if (is_newcomer_beside(n) && n != chosen_.own.node && peers_[n].connection == nullptr) go_on_without(n);
  if (!has_met())
    fail("not all nodes connected in time: " + std::to_string(missing()) + " of " +
         std::to_string(chosen_.own.nodes) + " are missing" + (unreached_.empty() ? "" : "; " + unreached_));
}

void tcp_transport::go_on_without(node_id node) {
  if (node == lister())
    fail_without_list();
  else if (set_gone(node))
    receiver_->on_left(node);
}

void tcp_transport::fail_without_list() {
  fail("node " + std::to_string(lister()) + " at " + chosen_.host + ":" + std::to_string(chosen_.port) +
       " gave this node its number, and then ended or refused it: join again");
}

void tcp_transport::answer_with_place(tcp_connection& c) {
  c.send(frame_kind::place, write_place(free_place()), most_queued);
}

place_answer tcp_transport::free_place() {
  const node_id own = chosen_.own.node;
  if (!chosen_.survives_losses && own != 0 && !is_there(0))
    return "node 0 has ended its program, so no more nodes can join this run";
  for (node_id n = 0; n < own; ++n)
    if (is_there(n)) {
      const member& at = peers_[n].at;
      return "node " + std::to_string(n) + " assigns the places of this run: join at " + at.host + ":" +
             std::to_string(at.port);
    }
  const node_id free = std::max(next_place_, own + 1);
  if (free >= peers_.size())
    return "all " + std::to_string(chosen_.room) +
           " places for nodes that join are taken: start the run with a larger --room";
  if (std::string obstacle = receiver_->obstacle_to_joining(); !obstacle.empty()) return obstacle;
  next_place_ = free + 1;
  peers_[free].is_given = true;
  send_next_place_to_all();
  return place{.nodes = chosen_.own.nodes, .room = chosen_.room, .node = free, .sponsor = own};
}

void tcp_transport::send_next_place(tcp_connection& to) const {
  bytes number;
  byte_sink(number).number(next_place_);
  to.send(frame_kind::place, number, ~std::size_t{0});
}

void tcp_transport::send_next_place_to_all() const {
  for (const peer& p : peers_)
    if (p.connection != nullptr && !p.gone) send_next_place(*p.connection);
}

void tcp_transport::admit(tcp_connection& c) {
  const node_id node = c.peer().node;
  peer& p = peers_[node];
  p.gone = p.is_free = false;
  take_as_peer(c);
  next_place_ = std::max(next_place_, node + 1);
  receiver_->on_joined(node);
  if (!p.is_given) return;
  // Sent even if many results are already queued for that node, because it cannot begin without the list.
  c.send(frame_kind::members, members(), ~std::size_t{0});
  send_next_place(c);
}

void tcp_transport::take_members_of_run(byte_view list) {
  for (node_id n = 0; n < *chosen_.sponsor; ++n) lacks(n);
  for (node_id n = 0; const member& m : read_members(list, chosen_.own.nodes - 1)) {
    if (++n == chosen_.own.node || n <= *chosen_.sponsor) continue;
    if (m.port == 0) {
      lacks(n);
      continue;
    }
    peers_[n].gone = false;  // wait for this node, even if it has joined, too
    asio::post(io_, [this, n, m] {
      if (!peers_[n].gone && peers_[n].connection == nullptr) connect(n, m.host, m.port);
    });
  }
}

void tcp_transport::lacks(node_id n) {
  if (peers_[n].connection == nullptr && set_gone(n)) receiver_->on_left(n);
}

}  // namespace sukima::cluster
