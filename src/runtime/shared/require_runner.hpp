// SPDX-License-Identifier: Apache-2.0
// Waits of a fiber for work that other fibers do.
#pragma once

namespace sukima::detail {

struct fiber;

/// Called by a fiber before it suspends until work in the injector has ended, such as launched futures or
/// bound fibers: it cannot run that work itself.
/// \throws shortage if there is no other worker, and no memory for another fiber: the wait would not end
void require_runner(const fiber& waits);

}  // namespace sukima::detail
