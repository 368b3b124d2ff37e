// SPDX-License-Identifier: Apache-2.0
// Measures the cost of recording, with tiny recorded programs.
#pragma once

#include "recording/recorded_times.hpp"

namespace sukima {
class runtime;
}

namespace sukima::objects::detail {

/// Runs two programs of two objects that only exchange messages. Each takes some milliseconds.
/// \returns the cost of recording
/// \throws as program::run
recording_cost measure_recording_cost(runtime& on);

}  // namespace sukima::objects::detail
