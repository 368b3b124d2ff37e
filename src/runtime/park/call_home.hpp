// SPDX-License-Identifier: Apache-2.0
// Calls a worker's thread home. Only these functions set and clear `flag_leave`.
//
// A thread is called home if its worker is surplus (worker_controller), or if its root has ended on another
// worker (complete). The caller first stores the reason, then sets the flag. Then it requests a poll of the
// worker's present fiber, and unparks the worker. So the worker notices the call at its next poll, in its
// search, or before it sleeps. docs/idle-workers.md describes what happens then.
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

/// Calls the worker's thread home. The caller must have stored the reason.
void call_home(worker& w) noexcept;
/// Clears the call, when the thread of a background worker is at home. The thread reads the reason of the
/// next call afterwards.
void answer_call_home(worker& w) noexcept;

}  // namespace sukima::detail
