// SPDX-License-Identifier: Apache-2.0
// Stores messages that the transport refuses for now. So a node that hangs does not delay messages to other
// nodes.
#pragma once

#include "protocol/messages.hpp"
#include "transport/transport.hpp"

#include <cstddef>
#include <deque>
#include <map>
#include <vector>

namespace sukima::cluster {

/// Only for the cluster thread.
class outbox {
 public:
  outbox(transport& by, unsigned nodes) : transport_(by), is_closed_(nodes) {}

  /// Sends a message, or stores it until the transport takes it. No message overtakes another one to the same
  /// node.
  /// \returns the size in bytes; 0: the message was dropped, because that node is closed
  std::size_t send(node_id to, const message& m);
  /// Tries again to send the stored messages.
  void send_waiting();
  /// Drops the messages that are stored for that node, and each later message to it.
  void close(node_id to);
  /// Undoes close().
  void open(node_id to) { is_closed_[to] = false; }
  bool empty() const noexcept { return waiting_.empty(); }
  /// Returns how many messages are stored for that node.
  std::size_t count(node_id to) const;
  /// Whether an answer to a task of that node is still stored here.
  bool owes(node_id to) const;

 private:
  struct refused {
    message_kind kind;
    bytes content;
  };
  transport& transport_;
  std::vector<bool> is_closed_;  ///< by node
  std::map<node_id, std::deque<refused>> waiting_;  ///< contains no empty queues
};

}  // namespace sukima::cluster
