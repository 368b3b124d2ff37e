// SPDX-License-Identifier: Apache-2.0
#include "control/poll_leave.hpp"

#include "join/give_away.hpp"
#include "park/call_home.hpp"

namespace sukima::detail {

poll_step leave_for_home(slow_poll& poll) noexcept {
  poll.leaves_later = calls_home(poll.flags) && poll.s.thread_bindings != 0;
  if (!calls_home(poll.flags) || poll.leaves_later) return poll_step::next;
  hand_over(poll.s);
  return poll_step::again;
}

}  // namespace sukima::detail
