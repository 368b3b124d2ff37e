// SPDX-License-Identifier: Apache-2.0
// Ends a command that runs until a signal arrives.
#pragma once

#include <atomic>

namespace sukima::cli::host {

/// From this call on SIGINT, SIGTERM, SIGHUP and SIGPIPE do not end the process, but set the returned flag
/// and end waiting. Signals that are ignored stay ignored.
const std::atomic<bool>& catch_stop_signals();

}  // namespace sukima::cli::host
