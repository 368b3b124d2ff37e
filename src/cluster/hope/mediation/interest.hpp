// SPDX-License-Identifier: Apache-2.0
// Which notes about tasks a node needs from its mediator: its subscription.
#pragma once

#include "hope/messages.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sukima::cluster::hope {

/// Tasks around a task that are looked through for a result.
inline constexpr unsigned most_levels = 64;

/// What one node subscribes to, as a whole: a later one replaces it.
struct interest {
  /// The largest number of tasks and places that a subscription names. A node with more needs everything.
  static constexpr std::size_t most = 2048;

  std::uint64_t version = 0;  ///< the node's later subscriptions have higher ones
  std::uint64_t entry = 0;  ///< notes of other entries are all needed
  bool is_all = true;  ///< each note is needed
  std::vector<task_key> tasks{};  ///< those that wait at the node for a result
  std::vector<task_key> places{};  ///< the units, or the entry, that workers of the node are in the middle of
  friend bool operator==(const interest&, const interest&) = default;

  /// Sorts the keys. A node with too many needs everything.
  void normalise();
  /// Whether a note about a task is needed. \pre normalise() was called. Logarithmic
  bool includes(const task_key& task, const task_key& within) const;
};

/// The kinds of notes that a subscription decides about. All others go to all nodes, also the end of a claim,
/// because a node may know the claim from an earlier subscription.
bool is_about_a_task(note_kind kind) noexcept;

/// The content of a note of kind `interest`. Linear.
bytes write_interest(const interest& one);
/// Reads a note of that kind; nothing: it is malformed. Linear.
std::optional<interest> read_interest(const note& n);

}  // namespace sukima::cluster::hope
