// SPDX-License-Identifier: Apache-2.0
// The handlers of a slow poll for aborts.
#pragma once

#include "choice/poll.hpp"

namespace sukima::detail {

/// Looks for an abort after something was aborted, perhaps the fiber's task.
poll_step check_abort(slow_poll& poll) noexcept;
/// Lets a loop begin no further iteration if an abort is pending. The last handler, so that thieves get what
/// is left before.
poll_step stop_aborted_loop(slow_poll& poll) noexcept;

}  // namespace sukima::detail
