// SPDX-License-Identifier: Apache-2.0
// Questions for results: the questions of this node, and questions of other nodes that it cannot answer yet.
//
// The living nodes form a ring by their numbers. A node that lacks a result asks the next one only. If that
// one has the result, it answers. If not, it remembers the question and asks the next node in turn, once. So
// a question passes each node at most once, until one of them answers. The answer goes back the same way.
//
//   - If the node that was asked is lost, the question goes to the next one.
//   - If there is no room for a question or an answer, the node sends it again after a while. It skips no
//     node, because that one may be the only node with the result.
//   - A node passes each result on at once, from any sender. The asking node may get it twice, because the
//     sender may have sent it to all.
//   - The questions of an entry end when the node learns the result of that entry.
//
// Questions are hints: a node that gets no answer computes the result itself.
// (src/cluster/model/questions.pml)
#pragma once

#include "hope/messages.hpp"
#include "hope/named_task.hpp"
#include "transport/transport.hpp"

#include <compare>
#include <cstddef>
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
  /// A result that another node lacks.
  struct answer {
    node_id to;
    result_name name;
    friend auto operator<=>(const answer&, const answer&) = default;
  };

  /// The largest number of questions that are remembered, and of answers that wait.
  static constexpr std::size_t most = std::size_t{1} << 12;

  /// \param gone  the nodes that are lost, as this node knows it; it outlives this object
  questions(const std::vector<bool>& gone, sender send);

  /// Sets this node's number. Once, before anything else.
  void begin(node_id self) noexcept { self_ = self; }
  /// Records that this node begins an entry. Its questions are not forgotten in favour of others.
  void begin_entry(std::uint64_t entry) noexcept { active_ = entry; }
  /// Records that this node has ended that entry. It asks for no result of it any more, also not for others.
  void end_entry();
  /// Asks for a result that this node lacks, unless an answer is awaited already.
  void ask(const result_name& name);
  /// Takes a question for a result that this node lacks, and passes it on.
  void asked_by(node_id from, const result_name& name);
  /// Records that a result is known here, and ends the question.
  /// \param from  the node that has sent it, or this one
  /// \returns the other nodes that have asked for it
  std::vector<node_id> known(const result_name& name, node_id from);
  /// Does the same for all results of an entry, because the result of the entry is known here.
  std::vector<node_id> entry_known(std::uint64_t entry, node_id from);
  /// Records that there is no room for an answer now.
  void refused(const answer& a);
  /// Records that a node is lost, and asks the next ones again.
  /// \pre it is gone in the list of the constructor
  void lose(node_id node);

  /// Sends the refused questions again. \returns the answers to send again; none: it is not time yet
  std::vector<answer> try_again(clock::time_point now);
  /// When try_again() has something to send; the end of time: nothing waits.
  clock::time_point next_try() const noexcept;

 private:
  struct question {
    std::optional<node_id> asked{};  ///< the node whose answer is awaited
    bool waits = false;  ///< there was no room for the question to that node
    bool is_own = false;  ///< this node itself lacks the result
    std::set<node_id> from{};  ///< nodes that have asked this one
  };
  using all_questions = std::map<result_name, question>;

  /// The question for a result; it asks the next node if it is new. Null: there are too many questions.
  question* find_or_ask(const result_name& name);
  /// Makes room for a question, if an older entry has some to forget. \returns whether there is room
  bool make_room(std::uint64_t entry);
  /// The first question of an entry, or of a later one.
  all_questions::iterator first_of(std::uint64_t entry) { return all_.lower_bound({entry, {}}); }
  /// The first question of a later entry.
  all_questions::iterator first_after(std::uint64_t entry);
  /// The next living node after this one in the ring; nothing: this node is alone.
  std::optional<node_id> next_node() const;
  void ask_next(const result_name& name, question& q);

  const std::vector<bool>& gone_;
  const sender send_;
  node_id self_ = 0;
  std::uint64_t active_ = 0;  ///< the entry that this node runs, or the last one
  all_questions all_;
  std::set<answer> refused_;
  bool question_waits_ = false;
  clock::time_point next_try_;
};

}  // namespace sukima::cluster::hope
