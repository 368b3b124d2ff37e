// SPDX-License-Identifier: Apache-2.0
// The kernel's futex, within one process.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace sukima::detail {

/// \param operation FUTEX_WAIT (value: what the word must still be) or FUTEX_WAKE (value: how many threads)
/// \param timeout   of a wait; null: none
inline long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
                  const timespec* timeout) noexcept {
  return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation | FUTEX_PRIVATE_FLAG, value,
                 timeout, nullptr, 0);
}

}  // namespace sukima::detail
