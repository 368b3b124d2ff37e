// SPDX-License-Identifier: Apache-2.0
// Lifelines: which nodes are partners, and how a node serves the lifelines that others have registered with
// it. Decisions only, without messages or threads.
//
// A node that found nothing to steal stops sending requests (thief.hpp). It registers a lifeline with other
// nodes. Each of them sends it a task as soon as it has one that takes long enough compared with the round
// trip (small_tasks.hpp). The other nodes keep a lifeline until they have sent it a task, or its entry has
// ended. So an idle cluster sends no messages.
//
// Source: Saraswat et al., "Lifeline-based global load balancing", PPoPP 2011. There each node registers with
// its partners only. That connects all nodes if every node with work can split it. But if all partners of a
// node run pieces that cannot be split, the node would receive nothing, even if other nodes have work. So in
// this implementation a node finally registers with all others.
#pragma once

#include "steal/small_tasks.hpp"
#include "transport/transport.hpp"

#include <bit>
#include <optional>
#include <utility>
#include <vector>

namespace sukima::cluster {

/// Whether two nodes are neighbours in a hypercube: their numbers differ in one bit. A node has at most
/// ⌈log2(nodes)⌉ partners.
constexpr bool are_partners(node_id a, node_id b) noexcept { return std::has_single_bit(a ^ b); }

/// The lifelines that other nodes have registered with this one, oldest first. Also determines when this node
/// requests a task from its workers again after they had none.
class lifelines {
 public:
  static constexpr std::chrono::microseconds shortest_pause{100};
  static constexpr std::chrono::microseconds longest_pause{20000};

  struct turn {
    node_id node;
    clock::time_point from;  ///< never before `now`
  };

  /// Adds a lifeline. A lifeline for a later entry is stored until that entry begins. A lifeline for an entry
  /// that has ended here is dropped.
  void add(node_id node, std::uint32_t entry);
  /// Removes the lifeline of a node that received a task, or is gone.
  void remove(node_id node);
  /// Removes the lifelines of earlier entries. \param entry the first entry whose lifelines stay
  void begin_entry(std::uint32_t entry);
  /// Returns the node that gets the next task of that entry: the oldest of the nodes that may get one now, or
  /// else the first that may get one later. Nothing: no node waits. Complexity: linear in the lifelines.
  std::optional<turn> next(std::uint32_t entry, const small_tasks& tasks, clock::time_point now) const;

  /// Records that no worker had a task. The next request to the workers follows after a pause. The pause
  /// doubles up to a limit until a task is sent.
  void on_unanswered(clock::time_point now);
  /// Allows a request to the workers at once.
  void on_work(clock::time_point now) noexcept { look_at_ = now; }
  /// Whether it is time for another request to the workers. After true it returns false until the next
  /// on_unanswered.
  bool takes_look(clock::time_point now);
  /// The time from which takes_look returns true; nothing: never.
  std::optional<clock::time_point> next_look() const noexcept { return look_at_; }
  /// \returns the first invariant that does not hold, or null
  const char* violated_invariant() const;

 private:
  std::vector<std::pair<node_id, std::uint32_t>> registered_;
  std::uint32_t first_entry_ = 1;  ///< the first entry that may still have lifelines
  std::optional<clock::time_point> look_at_;
  std::chrono::microseconds pause_ = shortest_pause;
};

}  // namespace sukima::cluster
