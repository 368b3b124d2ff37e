// SPDX-License-Identifier: Apache-2.0
// SUKIMA_OBJECTS_TIME=FILE: the time that the objects ran, in nanoseconds, for `sukima objects validate`.
#pragma once

#include <chrono>

namespace sukima::objects::detail {

/// Writes the time to the file that SUKIMA_OBJECTS_TIME names, if there is no such file yet.
void write_run_time(std::chrono::nanoseconds time) noexcept;

}  // namespace sukima::objects::detail
