// SPDX-License-Identifier: Apache-2.0
// The handlers of a slow poll for thieves: one publishes tasks, one replies to a request.
#pragma once

#include "choice/poll.hpp"

namespace sukima::detail {

/// Splits the oldest work off, unless a backtrack found nothing a moment ago.
task* try_to_split(const slow_poll& poll, std::uint64_t begun) noexcept;
/// Gives the thief that has asked a task, or none.
poll_step reply_to_request(slow_poll& poll) noexcept;
/// Publishes the tasks that others want.
poll_step publish_work(slow_poll& poll) noexcept;

}  // namespace sukima::detail
