// SPDX-License-Identifier: Apache-2.0
// Measures the costs of messages, of switches and of sleeping.
#pragma once

#include <objects/shared/costs.hpp>

namespace sukima {

/// Measures on the first CPU that this process may use, and on the first two where there are two:
/// messages of 8 bytes to 64 KiB between simulated objects, between threads, between processes through
/// shared memory, and through pipes; switches and sleeps. Takes about two seconds. The caller has one
/// thread, because processes are forked.
/// \throws std::system_error if memory, a pipe or a process is refused
/// \throws std::runtime_error if a process that it made was ended
objects::model::cost_table measure_message_costs();

}  // namespace sukima
