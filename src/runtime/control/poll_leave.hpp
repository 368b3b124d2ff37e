// SPDX-License-Identifier: Apache-2.0
// The handler of a slow poll for a worker whose thread is wanted at home.
#pragma once

#include "choice/poll.hpp"

namespace sukima::detail {

/// Hands the fiber over.
poll_step leave_for_home(slow_poll& poll) noexcept;

}  // namespace sukima::detail
