// SPDX-License-Identifier: Apache-2.0
// The option --metrics.
#pragma once

#include <host/shared/metrics.hpp>
#include <memory>
#include <string>

namespace sukima::cli::host {

/// Opens the destination of the metrics. \throws usage_error
std::unique_ptr<sukima::host::metrics_output> open_metrics_at(const std::string& where);

}  // namespace sukima::cli::host
