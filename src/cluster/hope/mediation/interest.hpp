// SPDX-License-Identifier: Apache-2.0
// The subscription of a node: which notes about tasks it needs from its mediator.
#pragma once

#include "hope/messages.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sukima::cluster::hope {

/// Largest number of tasks around a task that are searched for a result.
inline constexpr unsigned most_levels = 64;

/// The complete subscription of one node. A later one replaces it.
struct interest {
  /// The largest number of tasks and places in a subscription. A node that needs more subscribes to all
  /// notes.
  static constexpr std::size_t most = 2048;

  std::uint64_t version = 0;  ///< a later subscription of the node has a higher version
  std::uint64_t entry = 0;  ///< the node needs all notes of other entries
  bool is_all = true;  ///< whether the node needs all notes
  std::vector<task_key> tasks{};  ///< the tasks whose results the node waits for
  std::vector<task_key> places{};  ///< the units, or the entry, that workers of the node are running
  friend bool operator==(const interest&, const interest&) = default;

  /// Sorts the keys. If there are too many, subscribes to all notes.
  void normalise();
  /// Whether the node needs a note about a task. \pre normalise() was called. Complexity: logarithmic
  bool includes(const task_key& task, const task_key& within) const;
};

/// Whether a subscription decides about notes of this kind. All other notes go to all nodes, including the
/// end of a claim, because a node may know the claim from an earlier subscription.
bool is_about_a_task(note_kind kind) noexcept;

/// Writes the content of a note of kind `interest`. Complexity: linear.
bytes write_interest(const interest& one);
/// Reads a note of that kind; nothing: the note is malformed. Complexity: linear.
std::optional<interest> read_interest(const note& n);

}  // namespace sukima::cluster::hope
