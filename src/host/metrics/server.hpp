// SPDX-License-Identifier: Apache-2.0
// An HTTP server for one text.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "shared/metrics.hpp"

namespace sukima::host {

/// Serves /metrics from a thread of its own, so that neither side waits for the other. A connection gets one
/// response, and 5 s for everything. At most 16 connections are served at a time; others wait.
/// \param address an IP address of this machine
/// \param port 0: any free port
/// \throws metrics_error
std::unique_ptr<metrics_output> serve_metrics(const std::string& address, std::uint16_t port);

}  // namespace sukima::host
