// SPDX-License-Identifier: Apache-2.0
// The best solutions of a process, which its node exchanges with other nodes.
//
// The result of a task may depend on solutions that were known when the task ran, because the task pruned by
// them. So each message with a result also contains the sender's solutions. A node that has a result
// therefore has solutions at least as good as those that the result relied on, even if other messages were
// lost.
#pragma once

#include "transport/transport.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

namespace sukima::detail {

class shared_solution;

/// The best solutions of an entry, in bytes; empty: there are none.
struct solution_snapshot {
  std::uint64_t entry;
  std::vector<std::byte> content;
};

/// Any thread may call these functions, unless stated otherwise.
class solution_board {
 public:
  using bytes = std::vector<std::byte>;

  /// \throws usage_error another solution has that name
  void add(shared_solution& one);
  void remove(shared_solution& one) noexcept;

  /// Removes all solutions, because an entry begins. Must be called before its first task runs here.
  /// \param entry  the number of the entry
  void begin_entry(std::uint64_t entry);
  /// Returns all solutions of the active entry, in bytes; empty: there are none.
  bytes all() const;
  /// Returns the solutions together with the number of their entry, because another thread may begin the next
  /// entry.
  solution_snapshot snapshot() const;
  /// Merges solutions of another node. Ignores them if that entry is not the active one.
  /// \returns false: the bytes are malformed; some solutions may have been merged
  bool merge(std::uint64_t entry, std::span<const std::byte> from);

  /// Records that a solution has been improved here.
  void announce() noexcept;
  /// Whether a solution has been improved here since the last call.
  bool take_news() noexcept { return has_news_.exchange(false, std::memory_order_seq_cst); }
  bool has_news() const noexcept { return has_news_.load(std::memory_order_seq_cst); }
  /// \param ring  called after each improvement, until the next call of on_news; may be empty
  void on_news(std::function<void()> ring);

 private:
  /// \pre `lock_` is held
  bytes encoded() const;

  mutable std::mutex lock_;  ///< guards the members below
  std::vector<shared_solution*> all_;  ///< sorted by name
  std::uint64_t entry_ = 0;
  std::function<void()> ring_;
  /// Sequentially consistent, as rings require it (transport/tcp_transport.hpp).
  /// pairs with: announce, take_news, has_news, begin_entry
  std::atomic<bool> has_news_{false};
};

}  // namespace sukima::detail
