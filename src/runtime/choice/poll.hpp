// SPDX-License-Identifier: Apache-2.0
// The slow path of a poll (poll.cpp).
//
// Invariants of a fiber between two polls:
//   limit >= clean_from >= oldest (the limit may be raised, poll_limit.hpp);
//   choice points >= clean_from are untouched: nothing was split off from them;
//   no choice point of the running segment below `oldest` has work.
// A choice point that is pushed below `oldest` after the stack has shrunk lies below the limit, so its first
// poll is slow and moves both down. Therefore every choice point must be polled once: `oldest` has to stay an
// address where a choice point begins, and a choice point that was pushed without a poll could lie across it
// (except those of the smallest size). That is why `dynamic_wind` and `try` of the Tascell language poll,
// too: their kind is `quiet`, and their poll answers nobody.
#pragma once

#include "fiber/fiber.hpp"

namespace sukima::detail {

/// Does what others want of this fiber: checks for aborts, goes home, answers a steal request, publishes
/// work. The fiber may continue on another worker.
/// \param end      one past the youngest choice point that may be split
/// \param polling  the choice point that polls
/// \param at_join  the poll after the first branch; loops are not stopped by it
void poll_slow(fiber& s, choice_point* end, choice_point* polling, bool at_join) noexcept;
/// Stops running this fiber here and lets any worker continue it; returns when one does.
void hand_over(fiber& s) noexcept;
/// Splits up to `most` tasks off a running fiber and puts them where every worker finds them.
void give_work_away(fiber& s, choice_point* end, unsigned most) noexcept;

}  // namespace sukima::detail
