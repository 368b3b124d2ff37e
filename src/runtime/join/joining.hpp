// SPDX-License-Identifier: Apache-2.0
// The values of the word `task::joining` (join.hpp), for all layers.
#pragma once

#include <sukima/detail/task.hpp>

#include <atomic>
#include <cstdint>

namespace sukima::detail {

inline constexpr std::uintptr_t join_done = 1;
inline constexpr std::uintptr_t join_sleeper_mark = 2;  ///< | worker
inline constexpr std::uintptr_t join_parked_mark = 4;  ///< | fiber
inline constexpr std::uintptr_t join_received = 8;  ///< another node waits for this received_task
inline constexpr std::uintptr_t join_launched = 16;  ///< no fiber waits: a launched future (future/)
inline bool is_done(const task* t) noexcept {
  return t->joining.load(std::memory_order_acquire) == join_done;
}
/// Whether t is the task `from`, or was split off below it.
inline bool descends(const task* t, const task* from) noexcept {
  while (t != nullptr && t->depth > from->depth) t = t->parent;
  return t == from;
}

}  // namespace sukima::detail
