// SPDX-License-Identifier: Apache-2.0
// Calls a worker's thread home: the only owner of `flag_leave`.
//
// A thread is called home when its worker is surplus (worker_controller), and when the root that it has
// brought ended on another worker (complete). The reason is stored first, then the flag is set. Then a poll
// of the worker's present fiber is requested, and the worker is unparked. So it sees the call at its next
// poll, in its search, or before it sleeps. docs/idle-workers.md follows it from there.
#pragma once

#include "worker.hpp"

#include <atomic>
#include <cstdint>

namespace sukima::detail {

/// Whether these flags of a worker call it home.
constexpr bool calls_home(std::uint32_t flags) noexcept { return (flags & flag_leave) != 0; }

/// Whether the thread of this worker is called home. Any thread.
/// pairs with: call_home
inline bool is_called_home(const worker& w) noexcept {
  return calls_home(w.flags.load(std::memory_order_seq_cst));
}

/// Calls its thread home. The caller has stored the reason before.
void call_home(worker& w) noexcept;
/// The thread of a background worker is at home. It reads the reason of the next call afterwards.
void answer_call_home(worker& w) noexcept;

}  // namespace sukima::detail
