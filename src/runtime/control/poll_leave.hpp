// SPDX-License-Identifier: Apache-2.0
// The handler of a slow poll for a worker whose thread is called home.
#pragma once

#include "choice/poll.hpp"

namespace sukima::detail {

/// Hands over the fiber if the worker's thread is called home.
poll_step leave_for_home(slow_poll& poll) noexcept;

}  // namespace sukima::detail
