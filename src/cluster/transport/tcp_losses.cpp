// SPDX-License-Identifier: Apache-2.0
// Handles nodes that are lost or have left.
//
// Among many nodes, a node has no connection to most others, and learns from other nodes that they are gone.
// Each node forwards such news to all nodes to which it is connected. Under hierarchical omission a node is
// lost only if a connection ends, a call fails, or a node reports that it was silent. On other news of a loss
// the receiver calls the node in question. If nodes steal, node 0, to which all are connected, forwards which
// nodes have left and which newcomers are silent. The loss of any other node ends the run.
//
// A node that finds another one silent (transport/heartbeats.hpp) first sends a report to all others. It
// continues for a short time, so that the reports arrive. Then it reports the loss to its own receiver, which
// ends the node. During that time the node is in a state of its own (warning_) and does not block, because
// handlers of Asio must not run the event loop.
#include "transport/tcp_transport.hpp"

#include <algorithm>

namespace sukima::cluster {

void tcp_transport::closed(tcp_connection& c, node_id expected, const std::string& name,
                           const std::string& why) {
  if (!is_peer(c)) {
    // If a stranger connected by itself, no node is lost.
    if (c.is_refused() && !name.empty()) fail(name + ": " + why);
    if (!c.is_refused() && !name.empty()) fail_to_reach(expected, name, ": " + why);
    return;
  }
  const node_id node = c.peer().node;
  const bool leaves = std::any_of(early_.begin(), early_.end(), [&](const early_frame& e) {
    return e.from == node && e.content.kind == frame_kind::leave;
  });
  if (peers_[node].gone || leaves || is_ending()) return;
  if (!meeting_ || may_be_lost(node))
    lose(node, why);
  else if (chosen_.sponsor)
    go_on_without(node);
  else
    fail("node " + std::to_string(node) + " was lost (" + why + ")", static_cast<int>(node));
}

void tcp_transport::lose(node_id node, const std::string& why, std::optional<frame_kind> news) {
  peer& p = peers_[node];
  if (p.gone || (node == chosen_.own.node && chosen_.survives_losses)) return;
  if (meeting_ && is_newcomer_beside(node)) {
    go_on_without(node);
    return;
  }
  set_gone(node);
  // If the other node is still alive, it sees the end of the connection, and continues without this node.
  if (chosen_.survives_losses && p.connection != nullptr) p.connection->close();
  receiver_->on_lost(node, why);
  if (is_sparse_ && news && (chosen_.survives_losses || news == frame_kind::lost)) {
    bytes content = gone_frame(node, false);
    if (news == frame_kind::lost) content.resize(sizeof node);
    send_news(*news, content);
  }
  if (!meeting_) keep_ring();
  if (!meeting_) return;
  // The list of nodes will not arrive any more.
  if (node == lister() && !std::exchange(is_listed_, true)) {
    if (chosen_.sponsor)
      fail_without_list();
    else
      lose_missing("no list of nodes arrived, because node " + std::to_string(node) + " was lost");
  }
  if (chosen_.own.node == 0 && missing() == 0) send_members();
}

void tcp_transport::lose_silent(node_id node) {
  using tenths = std::chrono::duration<long, std::deci>;
  const long time =
      std::chrono::ceil<tenths>(chosen_.heartbeat.period * chosen_.heartbeat.silent_beats).count();
  bytes number;
  byte_sink(number).number(node);
  send_news(frame_kind::lost, number);
  const std::string why = "no heartbeat arrived for " + std::to_string(time / 10) +
                          (time % 10 != 0 ? "." + std::to_string(time % 10) : "") + " s";
  if (may_be_lost(node))
    lose(node, why, {});
  else
    lose_after_warning(node, why);
}

void tcp_transport::take_report(node_id reporter, byte_view content) {
  byte_source source(content);
  const node_id node = source.number<std::uint32_t>();
  if (!source.ok() || node >= peers_.size())
    throw frame_error("it reported the loss of a node that does not exist");
  if (!counts(reporter, node)) return;
  // During the meeting a loss matters only if the run continues without that node. If losses end the run, the
  // sender gives the reason when it ends.
  if (!is_ending() && (!meeting_ || may_be_lost(node)))
    lose(node, "node " + std::to_string(reporter) + " received nothing from it", frame_kind::lost);
  else if (leaving_ && node != chosen_.own.node && peers_[node].connection == nullptr)
    set_gone(node);  // this node does not wait for it
}

void tcp_transport::lose_after_warning(node_id node, const std::string& why) {
  if (std::exchange(warning_, true)) return;  // the first loss ends this node
  warning_time_.expires_after(chosen_.warning_time);
  warning_time_.async_wait([this, node, why](error_code error) {
    if (error) return;  // this node leaves
    warning_ = false;
    lose(node, why);
  });
}

void tcp_transport::send_news(frame_kind kind, byte_view content) {
  for (const peer& p : peers_)
    if (p.connection != nullptr && !p.gone) p.connection->send(kind, content, ~std::size_t{0});
}

bytes tcp_transport::gone_frame(node_id node, bool has_left) {
  bytes content;
  byte_sink(content).number(node).number(static_cast<std::uint8_t>(has_left));
  return content;
}

void tcp_transport::let_go(node_id node) {
  if (!set_gone(node)) return;
  peers_[node].has_left = true;
  receiver_->on_left(node);
  if (!is_sparse_ || leaving_) return;
  send_news(frame_kind::gone, gone_frame(node, true));
  keep_ring();
}

tcp_transport::end_of_node tcp_transport::read_news(byte_view content) const {
  byte_source source(content);
  const auto node = source.number<std::uint32_t>();
  const bool has_left = source.number<std::uint8_t>() != 0;
  if (!source.ok() || node >= peers_.size()) throw frame_error("it sent malformed news of a node's end");
  return {node, has_left};
}

void tcp_transport::take_news(byte_view content) {
  const auto [node, has_left] = read_news(content);
  const peer& p = peers_[node];
  // If there is a connection, that node's own messages decide.
  if (node == chosen_.own.node || p.gone || p.connection != nullptr) return;
  if (has_left && calls_.is_calling(node)) {
    peers_[node].has_left = true;  // the call's end decides: that node may have taken it, and sent messages
  } else if (has_left) {
    let_go(node);
  } else if (chosen_.survives_losses && !leaving_) {
    call_in_doubt(node);
  }
}

}  // namespace sukima::cluster
