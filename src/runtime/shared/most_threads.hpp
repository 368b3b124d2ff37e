// SPDX-License-Identifier: Apache-2.0
// The largest number of threads of a runtime.
#pragma once

namespace sukima::detail {

/// The largest number of background workers and threads that have entered, together, in one runtime.
inline constexpr unsigned most_threads = 4096;

}  // namespace sukima::detail
