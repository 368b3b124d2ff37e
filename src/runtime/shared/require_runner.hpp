// SPDX-License-Identifier: Apache-2.0
// Checks a fiber's wait for work that other fibers do.
#pragma once

namespace sukima::detail {

struct fiber;

/// Called by a fiber that will suspend until other fibers have ended, before it starts them. `suspend` would
/// throw the same exception, but only after that.
/// \throws shortage if there is neither memory for another fiber, which the fiber's worker could run, nor
///         another worker: the wait would not end
void require_runner(const fiber& waits);

}  // namespace sukima::detail
