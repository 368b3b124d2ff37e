// SPDX-License-Identifier: Apache-2.0
// Ending a command that goes on until a signal comes.
#pragma once

#include <atomic>

namespace sukima::cli::host {

/// From now on SIGINT, SIGTERM and SIGHUP set the flag and end waiting, instead of ending the process.
const std::atomic<bool>& catch_stop_signals();

}  // namespace sukima::cli::host
