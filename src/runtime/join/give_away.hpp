// SPDX-License-Identifier: Apache-2.0
// A fiber gives its work or itself to other workers.
#pragma once

#include "fiber/fiber.hpp"
#include "steal/injector.hpp"

namespace sukima::detail {

/// Stops running this fiber here and lets any worker continue it; returns when one does.
void hand_over(fiber& s) noexcept;
/// Splits up to `most` tasks off a running fiber, the oldest first, and puts them where every worker finds
/// them: at the back of the injector queue, or each before the one before. \returns how many there were
unsigned give_work_away(fiber& s, choice_point* end, unsigned most, queue_end to) noexcept;
/// At the join of `r`, before its fiber waits for this child: gives older work away. The child may be on
/// another node, and was split off before older work that does not travel. `r` has no step in progress any
/// more. Not for a choice point that is left in another way: it may still be open, and its step may be
/// undone.
void give_older_away(fiber& s, choice_point* r, const task& awaited) noexcept;

}  // namespace sukima::detail
