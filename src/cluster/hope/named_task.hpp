// SPDX-License-Identifier: Apache-2.0
// Names of tasks by content, for hierarchical omission: two nodes that reach the same work at different times
// and in different ways give it the same name.
#pragma once

#include "transport/transport.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>

namespace sukima::cluster::hope {

/// The name of a task: 128 bits of a hash. Equal work has equal names. Among n names of different work the
/// probability that any two are equal is about n²/2^129. XXH3 does not resist an adversary, but nodes prove
/// that they know the token before their messages are accepted.
struct task_key {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend constexpr auto operator<=>(const task_key&, const task_key&) = default;
};

/// Hash of a task_key, whose bits already are a hash.
struct task_key_hash {
  std::size_t operator()(const task_key& key) const noexcept { return static_cast<std::size_t>(key.low); }
};

/// Returns the name of a task.
/// \param entry the number of the entry that the task belongs to, from 1
/// \param type  the number of its function in the form_table, equal on all nodes because they run the same
///              program
/// \param input its serialised members `in`, which contain all data that its result may depend on
/// Complexity: linear in the size of the input. The name does not depend on the machine's byte order.
task_key key_of(std::uint64_t entry, std::uint32_t type, byte_view input) noexcept;

}  // namespace sukima::cluster::hope
