// SPDX-License-Identifier: Apache-2.0
// The handler of a slow poll for the request of a thief.
#include "fiber/fiber.hpp"
#include "steal/publish.hpp"
#include "steal/request.hpp"

#include <sukima/detail/ticks.hpp>

namespace sukima::detail {

poll_step reply_to_request(slow_poll& poll) noexcept {
  if (worker* const thief = take_request(*poll.s.on)) {
    task* const t = try_to_split(poll, ticks());
    poll.thief_served = t != nullptr;
    reply_to_thief(*thief, t);
  }
  return poll_step::next;
}

}  // namespace sukima::detail
