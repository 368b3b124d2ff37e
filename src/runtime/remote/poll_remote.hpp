// SPDX-License-Identifier: Apache-2.0
// The handler of a slow poll for another node that wants a task.
#pragma once

#include "choice/poll.hpp"

namespace sukima::detail {

/// Answers the node, if it has asked this worker.
poll_step answer_node(slow_poll& poll) noexcept;

}  // namespace sukima::detail
