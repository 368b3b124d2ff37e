// SPDX-License-Identifier: Apache-2.0
// The best solutions of a process, and how its node exchanges them.
//
// The result of a task may depend on solutions that were known when the task ran, because it pruned by them.
// So each message with a result also carries the sender's solutions. A node that knows a result therefore
// knows solutions as good as those that the result relied on, even if other messages were lost.
#pragma once

#include "transport/transport.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

namespace sukima::detail {

class shared_solution;

/// The best solutions of an entry, in bytes; empty: there is none.
struct solution_snapshot {
  std::uint64_t entry;
  std::vector<std::byte> content;
};

/// Any thread may call these functions, unless stated otherwise.
class solution_board {
 public:
  using bytes = std::vector<std::byte>;

  /// \throws usage_error there is one of that name
  void add(shared_solution& one);
  void remove(shared_solution& one) noexcept;

  /// Forgets all solutions, because an entry begins. Called before its first task runs here.
  /// \param entry  its number
  void begin_entry(std::uint64_t entry);
  /// Returns all solutions of the active entry, in bytes; empty: there is none.
  bytes all() const;
  /// Returns the same with the number of that entry. Another thread may begin the next entry.
  solution_snapshot snapshot() const;
  /// Takes over the solutions of another node. Ignored if the entry is not the active one.
  /// \returns false: these are no such bytes; some of them may have been taken
  bool merge(std::uint64_t entry, std::span<const std::byte> from);

  /// Records that a solution has been improved here.
  void announce() noexcept;
  /// Whether a solution has been improved here since the last call.
  bool take_news() noexcept { return has_news_.exchange(false); }  // partner: announce
  bool has_news() const noexcept { return has_news_.load(); }
  /// \param ring  called after each improvement until the next call of this; may be empty
  void on_news(std::function<void()> ring);

 private:
  /// \pre `lock_` is held
  bytes encoded() const;

  mutable std::mutex lock_;  ///< guards the next ones
  std::vector<shared_solution*> all_;  ///< by name
  std::uint64_t entry_ = 0;
  std::function<void()> ring_;
  std::atomic<bool> has_news_{false};
};

}  // namespace sukima::detail
