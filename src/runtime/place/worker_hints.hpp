// SPDX-License-Identifier: Apache-2.0
// The variables about its place that a worker publishes, and those that only its own thread uses
// (place/hints.hpp).
#pragma once

#include "place/worker_places.hpp"
#include "short_calls.hpp"

#include <sukima/capacity/places.h>

#include <atomic>
#include <cstdint>

namespace sukima::detail {

struct fiber;
struct worker;

/// What a worker would do if another worker's fiber wanted to run in its place.
enum class availability : std::uint8_t {
  away,  ///< outside the runtime, at home, or waiting outside: it takes nothing
  insists,  ///< its fiber is where it should be, or may not leave its thread
  yields,  ///< its fiber may as well run elsewhere
  idle,  ///< it looks for work
  asleep,  ///< it has no work and must be unparked first
};

/// Where a worker is, relative to the place of its fiber.
enum class nearness : std::uint8_t {
  no_place,  ///< the place is any, or the worker has no fiber
  at_home,  ///< in that place
  away,  ///< in another place
};

/// The variables of one worker. Sequentially consistent: each side first writes its own, then reads the
/// other's.
struct worker_hints {
  last_cpu cpu;
  /// The place of its fiber, if the worker is elsewhere and the fiber has waited for long enough; otherwise
  /// any.
  /// pairs with: say, ask_for, pass_on in match.cpp
  std::atomic<sukima_place> wanted{SUKIMA_PLACE_ANY};
  /// pairs with: say, find_partner, pass_on in match.cpp; falls_asleep in hints.cpp; make_offer in offer.cpp
  std::atomic<availability> available{availability::away};
  /// Set if the place of its fiber has no worker: a larger place counts instead, until a worker arrives
  /// there.
  /// pairs with: look, see in hints.cpp
  std::atomic<bool> settles_for_more{false};

  // Only for its own thread.
  std::uint64_t arrived = 0;  ///< tick at which it came to its fiber or began its task
  std::uint64_t away_since = 0;  ///< tick since which its fiber is away from its place; 0: it is not
  nearness near_to = nearness::no_place;  ///< since when: near_since
  std::uint64_t near_since = 0;  ///< tick
  bool has_rung = false;  ///< it has woken another worker of its fiber's place since then
  fiber* offered = nullptr;  ///< the fiber that it offers; null: none
  bool is_refused = false;  ///< another fiber was on offer already
  bool is_back = false;  ///< no worker took it, and it continues here
  sukima_place offered_to = SUKIMA_PLACE_ANY;
  worker* asked = nullptr;  ///< the worker to which it was offered
  std::uint64_t patience = 0;  ///< ticks that the next offer waits; 0: as the first one
  short_calls<64> branches;  ///< the hints whose branches have been short, by their hint_code
};

}  // namespace sukima::detail
