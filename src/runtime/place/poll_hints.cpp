// SPDX-License-Identifier: Apache-2.0
#include "place/poll_hints.hpp"

#include "place/hints.hpp"
#include "runtime_core.hpp"

namespace sukima::detail {

poll_step exchange_by_hint(slow_poll& poll) noexcept {
  auto& hints = static_cast<placement_hints&>(poll.s.runtime->hints);
  return hints.in_use() && hints.poll(poll.s, poll.flags) ? poll_step::again : poll_step::next;
}

}  // namespace sukima::detail
