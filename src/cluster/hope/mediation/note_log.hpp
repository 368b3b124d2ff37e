// SPDX-License-Identifier: Apache-2.0
// The notes about tasks of the running entry that a mediator has forwarded, for members of its group that
// subscribe to them later, and for the successor of another mediator.
//
// It keeps the result of each task, or its claims. A result also stays if a task around its own has a result,
// because nodes may reach a task by several ways. When there is no more room, these results are dropped
// first, and then the oldest notes.
#pragma once

#include "hope/mediation/interest.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <unordered_map>

namespace sukima::cluster::hope {

/// One thread.
class note_log {
 public:
  using taker = std::function<void(node_id, bytes&&)>;

  /// \param most  bytes of notes. When there are more, half of the room is freed, and nodes may repeat work
  explicit note_log(std::size_t most) noexcept : most_(most) {}

  /// Takes a note. Claims, their ends, and results of tasks and entries count. A note of a later entry ends
  /// the earlier one. Logarithmic; n log n in the kept notes when there is no more room.
  /// \param now  when it came
  void add(node_id origin, const note& n, byte_view content, clock::time_point now);
  /// Forgets an entry that has ended, and ignores its notes from now on. Linear in the kept notes.
  void end_entry(std::uint64_t entry);
  /// Records that the result of a task has gone to all nodes on another way.
  void went_to_all(const note& n);
  /// Forgets the claims of a node that is lost. Linear in the kept notes.
  void lose(node_id node);
  /// Passes on the kept notes that a subscription includes and the one before did not; some others, too, if
  /// the later one includes everything. Claims have the age that they have now. Linear in them and in the
  /// subscriptions, times the logarithm of the latter.
  /// \pre both are of one entry, and the one before names tasks and places
  void replay(const interest& later, const interest& before, clock::time_point now, const taker& take) const;
  /// Passes on all kept notes but those within a task whose result is kept, too. Linear in them.
  void hand_over(clock::time_point now, const taker& take) const;
  /// Whether it takes notes of that entry.
  bool takes(std::uint64_t entry) const noexcept { return entry >= entry_; }
  /// Bytes of the kept notes, with their overhead.
  std::size_t size() const noexcept { return size_; }

 private:
  struct logged_note {
    bytes content;
    clock::time_point came;
  };
  struct logged_task {
    std::map<node_id, logged_note> notes;  ///< by origin: the result alone, or the claims
    std::set<task_key> places;  ///< what it is within
    bool has_result = false;
  };
  using all_tasks = std::unordered_map<task_key, logged_task, task_key_hash>;

  void clear();
  void end_claim(const task_key& task, node_id origin);
  /// Removes the notes of a task, and its places.
  void remove(all_tasks::iterator one);
  /// Whether a task around that one has a result, and that one is within no other.
  bool is_covered(const logged_task& task) const;
  /// Frees half of the room.
  void shrink();
  void pass(const logged_task& task, clock::time_point now, const taker& take) const;

  const std::size_t most_;
  std::uint64_t entry_ = 0;  ///< the highest one seen that has not ended
  all_tasks tasks_;
  std::unordered_map<task_key, std::set<task_key>, task_key_hash> within_;  ///< the tasks above, by place
  std::size_t size_ = 0;
};

}  // namespace sukima::cluster::hope
