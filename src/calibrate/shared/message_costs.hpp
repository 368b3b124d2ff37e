// SPDX-License-Identifier: Apache-2.0
// Measures the costs of messages, of switches and of sleeping.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include <objects/shared/costs.hpp>

namespace sukima {

/// Called before each measurement with its name, the number of those that are done, and that of all.
using calibration_progress =
    std::function<void(const std::string& step, std::size_t done, std::size_t total)>;

/// Measures on the first CPU that this process may use, and, if there are more, on the first two. It measures
/// messages of 8 bytes to 64 KiB between simulated objects, between threads, between processes through shared
/// memory, and through pipes, and also switches and sleeps. Takes about two seconds.
/// \param progress may be empty
/// \pre the process has only the calling thread, because this function forks
/// \throws std::system_error  memory, a pipe or a process is refused
/// \throws std::runtime_error  a process that it made was ended
objects::model::cost_table measure_message_costs(const calibration_progress& progress = {});

}  // namespace sukima
