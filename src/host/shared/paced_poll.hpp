// SPDX-License-Identifier: Apache-2.0
// Waits for peers that may be hostile.
#pragma once

#include <poll.h>

#include <atomic>
#include <vector>

namespace sukima::host {

/// The shortest duration of a wait, in milliseconds. A peer that never stops sending can wake its reader only
/// 20 times per second; the socket's buffer delays the remaining data.
inline constexpr int shortest_wait_ms = 50;

/// Waits until one of these descriptors is ready, at least `shortest_wait_ms` and at most `longest_ms`. A
/// signal ends the wait.
/// \param stopped  set by a signal handler: if it is set, the function does not wait for the descriptors
inline void paced_poll(std::vector<pollfd>& all, int longest_ms, const std::atomic<bool>& stopped) {
  ::poll(nullptr, 0, shortest_wait_ms);
  // Relaxed: no other data is published with it. Partner: the caller's signal handler.
  if (!stopped.load(std::memory_order_relaxed)) ::poll(all.data(), all.size(), longest_ms - shortest_wait_ms);
}

}  // namespace sukima::host
