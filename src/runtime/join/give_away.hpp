// SPDX-License-Identifier: Apache-2.0
// Gives a fiber's work, or the fiber itself, to other workers.
#pragma once

#include "fiber/fiber.hpp"
#include "steal/injector.hpp"

namespace sukima::detail {

/// Stops running this fiber here and lets any worker continue it; returns when one does.
void hand_over(fiber& s) noexcept;
/// Splits up to `most` tasks off a running fiber, the oldest first, and puts them into the injector queue: at
/// the back, or each in front of the one before. \returns how many tasks there were
unsigned give_work_away(fiber& s, choice_point* end, unsigned most, queue_end to) noexcept;
/// Gives older work away at the join of `r`, before its fiber waits for this child. There may be older work,
/// because a child that went to another node may have been split off before older work that does not travel.
/// `r` has no step in progress any more. Must not be called if `r` is left in another way: it may still be
/// open, and its step may be undone.
void give_older_away(fiber& s, choice_point* r, const task& awaited) noexcept;

}  // namespace sukima::detail
