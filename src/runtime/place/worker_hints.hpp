// SPDX-License-Identifier: Apache-2.0
// What a worker says of its place to the others, and what it keeps about it (place/hints.hpp).
#pragma once

#include "place/worker_places.hpp"

#include <sukima/capacity/places.h>

#include <atomic>
#include <cstdint>

namespace sukima::detail {

struct fiber;
struct worker;

/// What a worker would do if somebody wanted to run in its place.
enum class availability : std::uint8_t {
  away,  ///< outside of the runtime, at home, or waiting outside: it takes nothing
  insists,  ///< its fiber is where it is to be, or may not leave its thread
  yields,  ///< its fiber would not mind to go elsewhere
  idle,  ///< it looks for work
  asleep,  ///< it has no work and must be unparked first
};

/// Where a worker is, as seen from the place of its fiber.
enum class nearness : std::uint8_t {
  no_place,  ///< that is any, or the worker has no fiber
  at_home,  ///< there
  away,  ///< elsewhere
};

/// The words of one worker. Sequentially consistent: each side first says its own, then looks at the other's.
struct worker_hints {
  last_cpu cpu;
  /// The place of its fiber, if that is not here and has waited for long enough; else any.
  std::atomic<sukima_place> wanted{SUKIMA_PLACE_ANY};
  std::atomic<availability> available{availability::away};
  /// The place of its fiber has no worker: a larger one counts for it, until somebody comes there.
  std::atomic<bool> settles_for_more{false};

  // Only for its own thread.
  std::uint64_t arrived = 0;  ///< tick at which it came to its fiber or began its task
  std::uint64_t away_since = 0;  ///< tick since which its fiber is away from its place; 0: it is not
  nearness near_to = nearness::no_place;  ///< since when: near_since
  std::uint64_t near_since = 0;  ///< tick
  bool has_rung = false;  ///< it has woken somebody for its fiber's place since then
  fiber* offered = nullptr;  ///< the fiber that it has left to be taken; null: none
  bool is_refused = false;  ///< another fiber was on offer already
  bool is_back = false;  ///< nobody took it, and it goes on here
  sukima_place offered_to = SUKIMA_PLACE_ANY;
  worker* asked = nullptr;  ///< whom it was offered to
  std::uint64_t patience = 0;  ///< ticks that the next offer is left; 0: as the first one
};

}  // namespace sukima::detail
