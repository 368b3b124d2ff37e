// SPDX-License-Identifier: Apache-2.0
#include "control/poll_leave.hpp"

#include "join/give_away.hpp"
#include "worker.hpp"

namespace sukima::detail {

poll_step leave_for_home(slow_poll& poll) noexcept {
  if ((poll.flags & flag_leave) == 0 || poll.s.thread_bindings != 0) return poll_step::next;
  hand_over(poll.s);
  return poll_step::again;
}

}  // namespace sukima::detail
