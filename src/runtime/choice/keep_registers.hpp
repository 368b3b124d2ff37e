// SPDX-License-Identifier: Apache-2.0
// What the call of the slow path has to know of this machine.
#pragma once

namespace sukima::detail {

/// Finds out which vector registers a poll must keep. Called before a runtime's first poll, by any thread.
#if defined(__x86_64__)
void find_vector_registers() noexcept;
#else
inline void find_vector_registers() noexcept {}
#endif

}  // namespace sukima::detail
