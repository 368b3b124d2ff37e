// SPDX-License-Identifier: Apache-2.0
// Questions for results: those of this node, and those of other nodes that it cannot answer yet.
//
// The living nodes form a ring by their numbers. A node that lacks a result asks only the next node. If that
// node has the result, it answers. Otherwise it stores the question and asks the next node in turn, once. So
// a question visits each node at most once, until a node answers. The answer goes back the same way.
//
//   - If the node that was asked is lost, the question goes to the next node.
//   - If there is no room for a question or an answer, the node sends it again later. It skips no node,
//   because
//     that node may be the only one with the result.
//   - A node forwards each result at once, whichever node sent it. The asking node may get it twice, because
//     the sender may have sent it to all nodes.
//   - The questions of an entry end when the node learns the result of that entry.
//
// Questions are hints: a node that gets no answer computes the result itself. Model: model/questions.pml.
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

/// The name of a result: the key of a task in an entry, or the entry itself.
struct result_name {
  std::uint64_t entry = 0;
  task_key task = name_of_entry;
  friend auto operator<=>(const result_name&, const result_name&) = default;
};

/// The questions of one node. Only one thread may use it.
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

  /// The largest number of stored questions, and of answers that wait.
  static constexpr std::size_t most = std::size_t{1} << 12;

  /// \param gone  which nodes this node considers lost; must outlive this object
  questions(const std::vector<bool>& gone, sender send);

  /// Sets this node's number. Must be called once, before any other function.
  void begin(node_id self) noexcept { self_ = self; }
  /// Records that this node begins an entry. Its questions are not dropped in favour of others.
  void begin_entry(std::uint64_t entry) noexcept { active_ = entry; }
  /// Records that this node has ended the active entry, so it needs none of its results any more, not even
  /// for others.
  void end_entry();
  /// Asks for a result that this node lacks, unless it already waits for an answer.
  void ask(const result_name& name);
  /// Takes another node's question for a result that this node lacks, and forwards it.
  void asked_by(node_id from, const result_name& name);
  /// Records that a result is known here, and ends its question.
  /// \param from  the node that sent the result, or this one
  /// \returns the other nodes that have asked for it
  std::vector<node_id> known(const result_name& name, node_id from);
  /// Does the same for all results of an entry, because the result of the entry is known here.
  std::vector<node_id> entry_known(std::uint64_t entry, node_id from);
  /// Records that there is no room for an answer now.
  void refused(const answer& a);
  /// Records that a node is lost. Questions that it was asked go to the next node.
  /// \pre the node is gone in the list given to the constructor
  void lose(node_id node);

  /// Sends the refused questions again. \returns the answers to send again; empty: it is not time yet
  std::vector<answer> try_again(clock::time_point now);
  /// The time at which try_again() has something to send; the end of time: no message waits.
  clock::time_point next_try() const noexcept;

 private:
  struct question {
    std::optional<node_id> asked{};  ///< the node whose answer is awaited
    bool waits = false;  ///< there was no room for the question to that node
    bool is_own = false;  ///< this node itself lacks the result
    std::set<node_id> from{};  ///< other nodes that have asked this one
  };
  using all_questions = std::map<result_name, question>;

  /// Returns the question for a result. If it is new, asks the next node. Null: there are too many questions.
  question* find_or_ask(const result_name& name);
  /// Makes room for a question, if questions of an older entry can be dropped. \returns whether there is room
  bool make_room(std::uint64_t entry);
  /// The first question of that entry or a later one.
  all_questions::iterator first_of(std::uint64_t entry) { return all_.lower_bound({entry, {}}); }
  /// The first question of a later entry.
  all_questions::iterator first_after(std::uint64_t entry);
  /// The next living node in the ring; nothing: this node is alone.
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
