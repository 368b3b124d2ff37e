// SPDX-License-Identifier: Apache-2.0
// What a test that takes the slow path does (poll.cpp).
#pragma once

#include "fiber/fiber.hpp"

namespace sukima::detail {

/// Serves what others want at a test. `end`: one past the youngest choice point with work; `testing`: the
/// choice point tested.
void poll_slow(fiber& s, choice_point* end, choice_point* testing, bool at_join) noexcept;
/// Stops running this fiber here and now and lets any worker go on with it; returns when one does.
void hand_over(fiber& s) noexcept;
/// Splits pieces of a running fiber's work off, up to a number, and lets everybody have them.
void give_work_away(fiber& s, choice_point* end, unsigned most) noexcept;
/// Splits the oldest work of a fiber off. Null: nothing, or every guard refused.
task* split_oldest(fiber& s, choice_point* end, choice_point* testing, worker& w) noexcept;

}  // namespace sukima::detail
