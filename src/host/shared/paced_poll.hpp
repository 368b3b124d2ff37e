// SPDX-License-Identifier: Apache-2.0
// Waiting for peers that may be hostile.
#pragma once

#include <poll.h>

#include <atomic>
#include <vector>

namespace sukima::host {

/// Milliseconds that each wait takes at least. A peer that never stops sending wakes its reader 20 times a
/// second, and the socket's buffer holds back the rest.
inline constexpr int shortest_wait_ms = 50;

/// Waits until one of these is ready, but not less than `shortest_wait_ms` and not more than `longest_ms`.
/// A signal ends the wait. \param stopped  set by a signal handler: nothing is waited for then
inline void paced_poll(std::vector<pollfd>& all, int longest_ms, const std::atomic<bool>& stopped) {
  ::poll(nullptr, 0, shortest_wait_ms);
  if (!stopped) ::poll(all.data(), all.size(), longest_ms - shortest_wait_ms);
}

}  // namespace sukima::host
