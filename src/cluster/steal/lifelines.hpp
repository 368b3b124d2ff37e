// SPDX-License-Identifier: Apache-2.0
// Lifelines: who joins whom, and what a node does with those that others have registered with it. Decisions
// only, without messages or threads.
//
// A node that found nothing to steal stops asking (thief.hpp). It registers a lifeline with others:
// each of them sends it a task when it has one that is not too small for the way (small_tasks.hpp),
// unasked. The others keep a lifeline until they have sent a task there, or its entry has ended. So an idle
// cluster sends nothing. Source: Saraswat et al., "Lifeline-based global load balancing", PPoPP 2011, where
// each node has only its partners: that joins all nodes if everybody who has work can split it, but one who
// waits only for partners that run a last piece gets nothing, whatever the others have. So it waits with
// all others in the end.
#pragma once

#include "steal/small_tasks.hpp"
#include "transport/transport.hpp"

#include <bit>
#include <optional>
#include <utility>
#include <vector>

namespace sukima::cluster {

/// Neighbours in a hypercube: their numbers differ in one bit. A node has at most ⌈log2(nodes)⌉ of them.
constexpr bool are_partners(node_id a, node_id b) noexcept { return std::has_single_bit(a ^ b); }

/// The lifelines that other nodes have registered with this one, oldest first, and when its workers are asked
/// again after they had nothing.
class lifelines {
 public:
  static constexpr std::chrono::microseconds shortest_pause{100};
  static constexpr std::chrono::microseconds longest_pause{20000};

  struct turn {
    node_id node;
    clock::time_point from;  ///< not before `now`
  };

  /// One for a later entry is kept for that; one for an entry that has ended here is not kept.
  void add(node_id node, std::uint32_t entry);
  /// That node got a task, or is gone.
  void remove(node_id node);
  /// Forgets those of earlier entries. \param entry the first one that is not
  void begin_entry(std::uint32_t entry);
  /// Returns which node gets the next task of that entry: the oldest of those that may have one now, or else
  /// the first that may have it later. Nothing: no node waits. Linear in the lifelines.
  std::optional<turn> next(std::uint32_t entry, const small_tasks& tasks, clock::time_point now) const;

  /// A worker had no task: the workers are asked again after a pause, which doubles up to a limit until a
  /// task is sent.
  void on_unanswered(clock::time_point now);
  /// A task may be had at once.
  void on_work(clock::time_point now) noexcept { look_at_ = now; }
  /// Whether it is time to ask the workers again. After true it returns false until the next on_unanswered.
  bool takes_look(clock::time_point now);
  /// When takes_look will say so; nothing: never.
  std::optional<clock::time_point> next_look() const noexcept { return look_at_; }

 private:
  std::vector<std::pair<node_id, std::uint32_t>> registered_;
  std::uint32_t first_entry_ = 1;  ///< that may still have some
  std::optional<clock::time_point> look_at_;
  std::chrono::microseconds pause_ = shortest_pause;
};

}  // namespace sukima::cluster
