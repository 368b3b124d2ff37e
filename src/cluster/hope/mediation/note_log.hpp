// SPDX-License-Identifier: Apache-2.0
// The notes about tasks of the active entry that a mediator has forwarded. It keeps them for members of its
// group that subscribe to them later, and for the successor of another mediator.
//
// The log keeps the result of each task, or else its claims. It also keeps a result if a task around the task
// has a result, because nodes may reach a task in several ways. When there is no more room, these results are
// dropped first, and then the oldest notes.
#pragma once

#include "hope/mediation/interest.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <unordered_map>

namespace sukima::cluster::hope {

/// Only one thread may use it.
class note_log {
 public:
  using taker = std::function<void(node_id, bytes&&)>;

  /// \param most  most bytes of notes. If there are more, half of the room is freed, and nodes may repeat
  /// work
  explicit note_log(std::size_t most) noexcept : most_(most) {}

  /// Takes a note: a claim, the end of a claim, or the result of a task or an entry; other notes are ignored.
  /// A note of a later entry ends the earlier one. Complexity: logarithmic; n log n in the kept notes if
  /// there is no more room.
  /// \param now  when the note arrived
  void add(node_id origin, const note& n, byte_view content, clock::time_point now);
  /// Removes the notes of an entry that has ended, and ignores later ones. Complexity: linear in the kept
  /// notes.
  void end_entry(std::uint64_t entry);
  /// Records that the result of a task was sent to all nodes in another way.
  void went_to_all(const note& n);
  /// Removes the claims of a node that is lost. Complexity: linear in the kept notes.
  void lose(node_id node);
  /// Passes on the kept notes that a subscription includes and the previous one did not. If the later one
  /// includes everything, passes on all kept notes. Claims get their present age. Complexity: linear in these
  /// notes and in the subscriptions, times the logarithm of the latter.
  /// \pre both subscriptions are of one entry, and the previous one lists tasks and places
  void replay(const interest& later, const interest& before, clock::time_point now, const taker& take) const;
  /// Passes on all kept notes, except notes within a task whose result is also kept. Complexity: linear in
  /// them.
  void hand_over(clock::time_point now, const taker& take) const;
  /// Whether the log takes notes of that entry.
  bool takes(std::uint64_t entry) const noexcept { return entry >= entry_; }
  /// Size of the kept notes with their overhead, in bytes.
  std::size_t size() const noexcept { return size_; }

 private:
  struct logged_note {
    bytes content;
    clock::time_point came;
  };
  struct logged_task {
    std::map<node_id, logged_note> notes;  ///< by origin: only the result, or the claims
    std::set<task_key> places;  ///< the tasks around it
    bool has_result = false;
  };
  using all_tasks = std::unordered_map<task_key, logged_task, task_key_hash>;

  void clear();
  void end_claim(const task_key& task, node_id origin);
  /// Removes the notes of a task, and its places.
  void remove(all_tasks::iterator one);
  /// Whether a task around it has a result, and it is inside no other task.
  bool is_covered(const logged_task& task) const;
  /// Frees half of the room.
  void shrink();
  void pass(const logged_task& task, clock::time_point now, const taker& take) const;

  const std::size_t most_;
  std::uint64_t entry_ = 0;  ///< the highest entry so far that has not ended
  all_tasks tasks_;
  std::unordered_map<task_key, std::set<task_key>, task_key_hash> within_;  ///< keys of `tasks_`, by place
  std::size_t size_ = 0;
};

}  // namespace sukima::cluster::hope
