// SPDX-License-Identifier: Apache-2.0
// Measures the cost of recording, with a tiny recorded program.
#pragma once

#include "recording/recorded_times.hpp"

namespace sukima {
class runtime;
}

namespace sukima::objects::detail {

/// Runs a program of two objects that only exchange messages, some milliseconds long, and returns the cost.
/// \throws as program::run
recording_cost measure_recording_cost(runtime& on);

}  // namespace sukima::objects::detail
