// SPDX-License-Identifier: Apache-2.0
// Measures the cost of a message between two processes on two CPUs.
#pragma once

#include <objects/shared/execution_model.hpp>

#include <cstddef>

namespace sukima::calibrate_detail {

/// Nanoseconds per message of a stream from a forked process on one CPU to this process on another.
/// \param carrier unit::process (shared memory) or unit::pipe
/// \throws std::system_error  memory, a pipe, a process or a CPU is refused
/// \throws std::runtime_error  the other process ended before it had sent all messages
double stream_between_processes(objects::model::unit carrier, std::size_t bytes, unsigned from, unsigned to);

}  // namespace sukima::calibrate_detail
