// SPDX-License-Identifier: Apache-2.0
// The slow path of a poll (poll.cpp): an ordered list of handlers, one for each kind of request to a fiber
// (poll_handlers.cpp).
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

#include <base/shared/assert.hpp>
#include "fiber/fiber.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace sukima::detail {

/// The limit while no poll is requested.
inline char* true_limit(const fiber& s) noexcept {
  return std::max({s.clean_from, s.steps.end(), s.early_poll});
}

/// Which poll it is.
enum class poll_place : std::uint8_t {
  ahead,  ///< at a fork's entry, or before an iteration
  join,  ///< after the first branch; it does not stop loops
  clone,  ///< of a sequential clone, which has no choice points, and ends if a thief needs more of them
};

/// A slow poll while its handlers run.
struct slow_poll {
  fiber& s;
  choice_point* end;  ///< one past the youngest choice point that may be split
  choice_point* polling;  ///< the choice point that polls
  poll_place place;
  std::uint32_t flags = 0;  ///< of the worker, read after the true limit was written
  bool thief_served = true;  ///< the requesting thief got a task, or there was no request
  bool publishes_more = false;  ///< thieves want more than could be published
  bool node_waits = false;  ///< another node's request is pending, for the next poll
  /// The thread is called home, but its fiber is bound to it, for how long is not known. No other event makes
  /// the fiber poll slowly once it is no longer bound.
  bool leaves_later = false;
};
enum class poll_step : bool {
  next,
  again,  ///< the fiber was suspended in between: everything may have changed, also its worker
};
/// Each answers one kind of request.
using poll_handler = poll_step (*)(slow_poll& poll) noexcept;
/// All of them, in the order in which they are called. After `again` the limit is written and the flags are
/// read again, and the first one follows.
extern const std::array<poll_handler, 7> poll_handlers;

/// Answers the requests to this fiber. The fiber may continue on another worker. \returns whether all
/// requests for work got some
/// \param end      one past the youngest choice point that may be split
/// \param polling  the choice point that polls
bool poll_slow(fiber& self, choice_point* end, choice_point* polling, poll_place place) noexcept;
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
}  // namespace sukima::detail
