// SPDX-License-Identifier: Apache-2.0
// The registers that the call of a poll's slow path keeps.
#pragma once

namespace sukima::detail {

/// Detects which vector registers a poll must keep. Called before a runtime's first poll, by any thread.
#if defined(__x86_64__)
void find_vector_registers() noexcept;
#else
inline void find_vector_registers() noexcept {}
#endif

}  // namespace sukima::detail
