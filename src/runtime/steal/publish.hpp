// SPDX-License-Identifier: Apache-2.0
// The handlers of a slow poll for thieves: one publishes tasks, one replies to a request.
#pragma once

#include "choice/poll.hpp"

namespace sukima::detail {

/// Splits off the oldest work, unless a backtrack has just found none.
task* try_to_split(const slow_poll& poll, std::uint64_t begun) noexcept;
/// Replies to the request of a thief, with a task or none.
poll_step reply_to_request(slow_poll& poll) noexcept;
/// Publishes tasks if other workers want some.
poll_step publish_work(slow_poll& poll) noexcept;

}  // namespace sukima::detail
