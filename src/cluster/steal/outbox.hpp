// SPDX-License-Identifier: Apache-2.0
// Messages that wait because their receiver takes none now. So a node that hangs delays no message to another
// node.
#pragma once

#include "protocol/messages.hpp"
#include "transport/transport.hpp"

#include <cstddef>
#include <deque>
#include <map>
#include <vector>

namespace sukima::cluster {

/// For the cluster thread.
class outbox {
 public:
  outbox(transport& by, unsigned nodes) : transport_(by), is_closed_(nodes) {}

  /// Sends a message, or keeps it until the transport takes it. No message overtakes one to the same node.
  /// \returns its bytes; 0: it was dropped, because that node is closed
  std::size_t send(node_id to, const message& m);
  /// Tries again to send the waiting messages.
  void send_waiting();
  /// Drops the messages that wait for that node, and each later message to it.
  void close(node_id to);
  /// Undoes close().
  void open(node_id to) { is_closed_[to] = false; }
  bool empty() const noexcept { return waiting_.empty(); }
  /// Returns how many messages wait for that node.
  std::size_t count(node_id to) const;
  /// Returns whether an answer to a task of that node still waits here.
  bool owes(node_id to) const;

 private:
  struct refused {
    message_kind kind;
    bytes content;
  };
  transport& transport_;
  std::vector<bool> is_closed_;  ///< by node
  std::map<node_id, std::deque<refused>> waiting_;  ///< without empty ones
};

}  // namespace sukima::cluster
