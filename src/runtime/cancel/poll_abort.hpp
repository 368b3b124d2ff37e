// SPDX-License-Identifier: Apache-2.0
// The handlers of a slow poll for aborts.
#pragma once

#include "choice/poll.hpp"

namespace sukima::detail {

/// Checks whether an abort reaches the fiber, after a task or choice point was aborted.
poll_step check_abort(slow_poll& poll) noexcept;
/// Lets a loop begin no further iteration if an abort is pending. It is the last handler, so that thieves get
/// the remaining work before.
poll_step stop_aborted_loop(slow_poll& poll) noexcept;

}  // namespace sukima::detail
