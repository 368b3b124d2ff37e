// SPDX-License-Identifier: Apache-2.0
// Gives back a fiber of an executor that never begins.
#pragma once

namespace sukima::detail {

struct fiber;

/// Gives back a fiber that executor::make_fiber has made and that has never run. Its executor must run no
/// fiber afterwards. Any thread may call this. \par Complexity constant
void discard_fiber(fiber& fresh) noexcept;

}  // namespace sukima::detail
