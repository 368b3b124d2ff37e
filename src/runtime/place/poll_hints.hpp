// SPDX-License-Identifier: Apache-2.0
// The handler of a slow poll for hints where to run.
#pragma once

#include "choice/poll.hpp"

namespace sukima::detail {

/// Exchanges the fiber, if it should run elsewhere.
poll_step exchange_by_hint(slow_poll& poll) noexcept;

}  // namespace sukima::detail
