// SPDX-License-Identifier: Apache-2.0
// When a node asks for a task, and whom: decisions only, without clock, messages or threads.
//
// One request is under way at a time. The node that gave the last task is asked first, then the others in an
// order drawn anew; when all have refused, the next round begins after a pause that doubles up to a limit. A
// request that is not answered for a while is given up: the answer may come later, and a task is welcome
// then.
#pragma once

#include "transport/transport.hpp"

#include <optional>
#include <random>
#include <vector>

namespace sukima::cluster {

class thief {
 public:
  static constexpr std::chrono::microseconds patience{5000};  ///< then another node is asked
  static constexpr std::chrono::microseconds shortest_pause{100};
  static constexpr std::chrono::microseconds longest_pause{20000};

  thief(node_id self, unsigned nodes, std::uint64_t seed);

  /// A worker is idle, or none is.
  void set_hungry(bool hungry) noexcept { hungry_ = hungry; }
  bool is_hungry() const noexcept { return hungry_; }
  /// Whom to ask now; nothing: nobody. The request is under way then.
  std::optional<node_id> next_victim(clock::time_point now);
  void on_none(node_id from, clock::time_point now);
  void on_task(node_id from);
  /// That node is gone.
  void forget(node_id node);
  /// A new entry begins: everybody may have work.
  void begin_entry();
  /// When next_victim will have another answer by itself; nothing: never.
  std::optional<clock::time_point> next_look() const noexcept;

 private:
  void begin_round();

  std::mt19937_64 draws_;
  std::vector<node_id> others_;  ///< that are there
  std::vector<node_id> round_;  ///< still to be asked in this round, the next one last
  bool hungry_ = false;
  std::optional<node_id> asked_;
  clock::time_point asked_at_;
  clock::time_point pause_ends_;
  std::chrono::microseconds pause_ = shortest_pause;
  std::optional<node_id> last_giver_;
};

}  // namespace sukima::cluster
