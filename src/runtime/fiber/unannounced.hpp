// SPDX-License-Identifier: Apache-2.0
// Unannounced roots: entries omit several steps if the root is expected to end at once (short_roots.hpp). No
// other thread can find such a root.
//
// Such a root runs on a fiber of its thread's worker, by a plain call (visit.hpp). The worker is taken, but
// no entry is counted, no state, mailbox or current fiber is written, and no worker is called up. To other
// threads the worker looks like one without a thread. The fiber's limit is raised from the beginning, so each
// of its polls and joins is slow. The first choice point, of any kind, is ignored: its first polls
// (tuning::polls_let_pass) and, if there were no more, its join. Other short roots check for flags and loops
// first (choice/poll.cpp). Here no flag of the worker is meant for the root. A loop's fifth poll announces
// the fiber, as the poll of any other choice point does, and from then on the loop's join is an ordinary
// join. All other code that needs the runtime finds its fiber by fiber_of() or running_fiber(). These
// functions *announce* the fiber first: they perform all omitted steps. From then on the root is an ordinary
// root, which is short if it has not polled yet, and its thread comes home by a switch.
//
// The invariant of an unannounced fiber: it has no task, nothing is split off, its worker's `current` is
// null, and it is still the last one in the worker's cache. Only its own thread announces it.
//
// The end of the runtime: the thread takes its worker, then reads whether entries are refused. close()
// refuses them, then reads which workers are taken (entries.hpp).
#pragma once

#include "fiber/fiber.hpp"

namespace sukima::detail {

/// Announces the fiber (entries.cpp). \pre it is unannounced, and the calling thread runs it
void announce(fiber& s) noexcept;
/// The same, but does nothing if another thread runs it. \returns the fiber
fiber& announce_own(fiber& s) noexcept;
/// \pre the calling thread runs it
inline void ensure_announced(fiber& s) noexcept {
  if (s.unannounced.load(std::memory_order_relaxed)) [[unlikely]]
    announce(s);
}

}  // namespace sukima::detail
