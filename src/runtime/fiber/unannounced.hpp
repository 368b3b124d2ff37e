// SPDX-License-Identifier: Apache-2.0
// Roots that no other thread knows of: what an entry leaves out when its root is expected to end at once
// (short_roots.hpp).
//
// Such a root runs on a fiber of its thread's worker, by a plain call (visit.hpp). The worker is taken, but
// no entry is counted, no state, mailbox or current fiber is written, and no worker is called up. Others
// cannot tell it from a worker that has no thread. The fiber's limit is raised from the beginning, so each of
// its polls and joins is slow. The first choice point, of whatever kind, is let pass: its first poll and, if
// that was the only one, its join. Other short roots look for flags and loops first (choice/poll.cpp). Here
// no flag of the worker concerns the root. A loop's next poll announces the fiber, as any other does, and
// from then on the loop's join is one like any other. Whatever else needs the runtime finds its fiber by
// fiber_of() or running_fiber(), and these *announce* it first: they do all that was left out. From then on
// the root is one like any other, short if it has not polled yet, and its thread comes home by a switch.
//
// So the invariant of an unannounced fiber: it has no task, nothing is split off, its worker's `current` is
// null, and it is still the last one in the worker's cache. Only its own thread announces it.
//
// The end of the runtime: the thread takes its worker, then reads whether entries are refused; close()
// refuses them, then reads whose workers are taken (entries.hpp).
#pragma once

#include "fiber/fiber.hpp"

namespace sukima::detail {

/// Announces the fiber (entries.cpp). \pre it is unannounced, and the calling thread runs it
void announce(fiber& s) noexcept;
/// The same, but nothing happens if another thread runs it. \returns it
fiber& announce_own(fiber& s) noexcept;
/// \pre the calling thread runs it
inline void ensure_announced(fiber& s) noexcept {
  if (s.unannounced.load(std::memory_order_relaxed)) [[unlikely]]
    announce(s);
}

}  // namespace sukima::detail
