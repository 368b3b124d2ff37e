// SPDX-License-Identifier: Apache-2.0
// Questions for results: those that this node has asked, and those of other nodes that it cannot answer yet.
//
// The living nodes form a ring by their numbers. A node that lacks a result asks the next one only. If that
// one has the result, it answers. If not, it remembers the question and asks the next node in turn, once. So
// a question passes each node at most once, until one of them answers. The answer goes back the same way.
//
//   - If the node that was asked is lost, the question goes to the next one.
//   - A result that its origin has sent to all nodes is not passed on, because the asking node gets it, too.
//     When that origin is lost, the asking node may have missed it. Then it is passed on.
//   - A node that has joined is not known to all others at once. So it gets each result that it has asked
//     for.
//
// Questions are hints: a node that gets no answer computes the result itself.
// (src/cluster/model/questions.pml)
#pragma once

#include "hope/messages.hpp"
#include "hope/named_task.hpp"
#include "transport/transport.hpp"

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace sukima::cluster::hope {

/// The name of a result: that of a task of an entry, or of the entry itself.
struct result_name {
  std::uint64_t entry = 0;
  task_key task = name_of_entry;
  friend auto operator<=>(const result_name&, const result_name&) = default;
};

/// The questions of one node. One thread.
class questions {
 public:
  /// Sends a question to a node. \returns false: there is no room for it now
  using sender = std::function<bool(node_id, const result_name&)>;
  /// A result that another node has asked for.
  struct answer {
    node_id to;
    result_name name;
  };

  /// \param gone  the nodes that are lost, as this node knows it; it outlives this object
  questions(const std::vector<bool>& gone, sender send);

  /// Sets this node's number. Once, before anything else.
  void begin(node_id self) noexcept { self_ = self; }
  /// Records that a node has joined.
  void gain(node_id node) { has_joined_[node] = true; }
  /// Asks for a result that this node lacks, unless an answer is awaited already.
  void ask(const result_name& name);
  /// Takes a question for a result that this node lacks, and passes it on.
  void asked_by(node_id from, const result_name& name);
  /// Records that this node has received a result. \returns the nodes to which it must pass it on now
  std::vector<node_id> received(const result_name& name, node_id from);
  /// Records that this node has computed a result. \param sent_to_all  whether it has sent it to all others
  /// \returns the nodes to which it must send it now
  std::vector<node_id> computed(const result_name& name, bool sent_to_all);
  /// Records that a node is lost, and asks the next ones again. \returns the results to pass on now
  /// \pre it is gone in the list of the constructor
  std::vector<answer> lose(node_id node);

 private:
  struct question {
    std::optional<node_id> asked;  ///< the node whose answer is awaited
    std::optional<node_id> origin;  ///< the node that has sent the result to all
    std::set<node_id> from;  ///< nodes that have asked this one
  };

  /// The next living node after another one in the ring; nothing: this node is next.
  std::optional<node_id> next_after(node_id node) const;
  /// Asks the next living node, or one after it if there is no room for a message to that one.
  void ask_next(const result_name& name, question& q);

  const std::vector<bool>& gone_;
  const sender send_;
  node_id self_ = 0;
  std::vector<bool> has_joined_;
  std::map<result_name, question> all_;
};

}  // namespace sukima::cluster::hope
