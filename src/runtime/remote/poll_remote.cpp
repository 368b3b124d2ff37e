// SPDX-License-Identifier: Apache-2.0
#include "remote/poll_remote.hpp"

#include "cancel/abort.hpp"
#include "fiber/fiber_parts.hpp"
#include "remote/remote_interface.hpp"
#include "worker.hpp"

namespace sukima::detail {

poll_step answer_node(slow_poll& poll) noexcept {
  if ((poll.flags & flag_remote) == 0) return poll_step::next;
  auto& remote = static_cast<remote_interface&>(parts_of<fiber_parts>(poll.s).remote);
  const auto answered = remote.answer(poll.s, poll.end, poll.polling, poll.place);
  poll.node_waits = answered == remote_interface::answered::not_yet;
  if (answered != remote_interface::answered::after_waiting) return poll_step::next;
  look_for_abort(poll.s);  // while the fiber waited, an abort set the flags of workers only
  return poll_step::again;
}

}  // namespace sukima::detail
