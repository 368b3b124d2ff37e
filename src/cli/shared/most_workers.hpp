// SPDX-License-Identifier: Apache-2.0
// The largest number of workers that a program with the runtime accepts in SUKIMA_WORKERS. The commands do
// not contain the runtime; a test compares the number with sukima::settings::most_workers.
#pragma once

namespace sukima::cli {

inline constexpr unsigned most_workers = 1024;

}  // namespace sukima::cli
