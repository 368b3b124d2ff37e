// SPDX-License-Identifier: Apache-2.0
// The slow path of a poll (poll.cpp).
//
// Invariants of a fiber between two polls:
//   limit >= true_limit >= clean_from >= oldest (the limit may be raised, poll_limit.hpp);
//   true_limit >= early_poll: while work waits until it may be exchanged (place/hints.hpp);
//   true_limit >= steps.end(): a choice point that is pushed below that polls slowly (known_steps.hpp);
//   choice points >= clean_from are untouched: nothing was split off from them;
//   no choice point of the running segment below `oldest` has work.
// A choice point that is pushed below `oldest` after the stack has shrunk is below the limit, so its first
// poll is slow and moves both down. Therefore every choice point must be polled once. `oldest` must stay an
// address where a choice point begins, and a choice point that was pushed without a poll could lie across it,
// unless it has the smallest size. That is why `dynamic_wind` and `try` of the Tascell language poll, too:
// their kind is `quiet`, and their poll answers no request.
#pragma once

#include "assert.hpp"
#include "fiber/fiber.hpp"
#include "steal/injector.hpp"

#include <algorithm>
#include <cstdint>

namespace sukima::detail {

/// The limit while no poll is requested.
inline char* true_limit(const fiber& s) noexcept {
  return std::max({s.clean_from, s.steps.end(), s.early_poll});
}

/// Which poll it is.
enum class poll_place : std::uint8_t {
  ahead,  ///< at a fork's entry, or before an iteration
  join,  ///< after the first branch; loops are not stopped by it
  clone,  ///< of a sequential clone, which has no choice points, and ends where a thief wants more of them
};

/// Does what others want of this fiber: checks for aborts, goes home, answers a steal request, publishes
/// work. The fiber may continue on another worker.
/// \returns whether all that wanted work got some
/// \param end      one past the youngest choice point that may be split
/// \param polling  the choice point that polls
bool poll_slow(fiber& s, choice_point* end, choice_point* polling, poll_place place) noexcept;
#if defined(SUKIMA_ASSERTIONS)
/// Evaluates the invariants above, as far as they can be seen from here.
/// \param end  one past the youngest choice point
void check_choice_points(const fiber& s, const choice_point* end) noexcept;
#else
inline void check_choice_points(const fiber& /*s*/, const choice_point* /*end*/) noexcept {}
#endif
/// Whether this join can be ignored: its fork's poll was ignored (short_roots.hpp), nothing was split off
/// from it, and no abort has to be noticed.
bool ignores_join(fiber& s, const choice_point* r) noexcept;
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
