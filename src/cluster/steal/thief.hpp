// SPDX-License-Identifier: Apache-2.0
// When a node asks for a task, and whom: decisions only, without clock, messages or threads.
//
// One request is under way at a time. The node that gave the last task is asked first, then the others in an
// order drawn anew. A request that is not answered for a while is given up: the answer may come later, and a
// task is welcome then. After two requests in a row without a task nobody is asked any more, and the node
// waits at its lifelines (lifelines.hpp): at first with its partners, and if no task comes for a while, with
// all others. A task ends the silence, and so does the next entry.
//
// A lifeline stays registered with a node until a task comes from there, also one that nobody here needs any
// more. So "it is registered there" is true here only if that node has the lifeline, or it is under way to
// that node, or a task is under way from it: no node waits for one that does not know of it. Partner:
// lifelines::remove, which is called for each task that is sent. Model: model/lifelines.pml.
#pragma once

#include "transport/transport.hpp"

#include <optional>
#include <random>
#include <vector>

namespace sukima::cluster {

class thief {
 public:
  static constexpr std::chrono::microseconds patience{5000};  ///< then another node is asked, or all
  static constexpr unsigned most_refusals = 2;  ///< in a row; then the node waits at its lifelines

  thief(node_id self, unsigned nodes, std::uint64_t seed);

  /// A worker is idle, or none is.
  void set_hungry(bool hungry) noexcept { hungry_ = hungry; }
  bool is_hungry() const noexcept { return hungry_; }
  /// Whom to ask now; nothing: nobody. The request is under way then.
  std::optional<node_id> next_victim(clock::time_point now);
  void on_none(node_id from);
  /// A task has come, and is kept: no worker is idle, until set_hungry says so again.
  void on_task(node_id from);
  /// A task has come, and goes back, as no worker is idle.
  void on_surplus(node_id from);
  /// That node is gone.
  void forget(node_id node);
  /// A new entry begins: everybody may have work, and no lifeline is registered.
  void begin_entry();
  /// With whom lifelines are to be registered now; they are then. Mostly none.
  std::vector<node_id> take_lifelines(clock::time_point now);
  /// When next_victim or take_lifelines will have another answer by itself; nothing: never.
  std::optional<clock::time_point> next_look() const noexcept;

 private:
  void begin_round();
  void refused() noexcept;
  void give_up_late_one(clock::time_point now);

  std::mt19937_64 draws_;
  node_id self_;
  std::vector<node_id> others_;  ///< that are there
  std::vector<node_id> round_;  ///< still to be asked in this round, the next one last
  bool hungry_ = false;
  std::optional<node_id> asked_;
  clock::time_point asked_at_;
  unsigned refusals_ = 0;  ///< in a row; most_refusals: nobody is asked
  std::optional<clock::time_point> waits_since_;  ///< at the lifelines of its partners
  std::vector<bool> registered_;  ///< a lifeline, with each node
  std::optional<node_id> last_giver_;
};

}  // namespace sukima::cluster
