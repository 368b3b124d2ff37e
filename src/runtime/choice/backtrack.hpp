// SPDX-License-Identifier: Apache-2.0
// Splits off a fiber's oldest work, with temporary backtracking (backtrack.cpp).
//
// A fork copies and allocates nothing until a thief wants work. Then the fiber backtracks to its oldest
// choice point that still has work: it undoes the steps in progress of all younger choice points, youngest
// first. It splits off a task there, so the task begins in the state in which that choice was made.
// Afterwards the fiber replays the steps, oldest first, and continues where it was. This is Tascell's
// temporary backtracking (Hiraishi, Yasugi, Umatani, Yuasa: Backtracking-based load balancing, PPoPP 2009).
#pragma once

#include "fiber/fiber.hpp"

namespace sukima::detail {

/// The receiver of a task: a worker of this process, or another node.
enum class taker : bool { worker, node };

/// Splits off the oldest work of a fiber, in all its segments. The caller runs the fiber, or has set it to
/// the stage `splitting` (suspend.cpp). If a user's callback throws, the exception is stored in
/// `fiber::failure` or in the covered segment, and the next join rethrows it.
/// \param end      one past the youngest choice point that may be split
/// \param polling  the choice point whose poll this is; null: none
/// \param receiver for another node, only choice points whose tasks may travel are split
/// \returns a task that only the caller knows; null: there is nothing to split, every guard refused, or
/// memory ran out
/// \par Complexity constant, amortised over the choice points that were pushed and popped (known_steps.hpp);
/// linear in the number of steps in progress, which are undone and replayed, and in that of guards that
/// refuse
task* split_oldest(fiber& s, choice_point* end, choice_point* polling, worker& w,
                   taker receiver = taker::worker) noexcept;
/// The same in the running segment only.
task* split_in_segment(fiber& self, choice_point* end, choice_point* polling, worker& splitter,
                       taker receiver) noexcept;

/// Whether a fiber has work below `top` that could be split off, in any of its segments. The caller must be
/// allowed to split it.
/// \par Complexity linear in the number of choice points without work from `oldest` to the first with work
bool has_open_work(fiber& s, const char* top) noexcept;
/// The same of the running segment only.
bool segment_has_open_work(const fiber& s, const char* top) noexcept;

}  // namespace sukima::detail
