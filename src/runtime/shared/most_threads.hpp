// SPDX-License-Identifier: Apache-2.0
// The largest number of threads of a runtime.
#pragma once

namespace sukima::detail {

/// Background workers and threads that have entered, of one runtime, all together.
inline constexpr unsigned most_threads = 4096;

}  // namespace sukima::detail
