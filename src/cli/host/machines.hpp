// SPDX-License-Identifier: Apache-2.0
// `sukima host list`, `watch` and `record`: the machines of the running host.
#pragma once

#include <optional>

#include "host/live.hpp"
#include "host/print_line.hpp"

namespace sukima::cli::host {

struct machine_options {
  std::optional<model::weight_owner> weight_of;
  line_format format;
  std::optional<unsigned> count;  ///< number of readings; nothing: the command's default
  std::string metrics;  ///< destination of the metrics of watch; empty: none
};

// Each function takes the readings that it needs and returns the command's exit code. Each throws usage_error
// if no reading succeeds.

/// Prints the machines once.
int list(live_host& host, const machine_options& options);
/// Prints them at each interval: on a terminal as one table that is redrawn, otherwise as lines.
int watch(live_host& host, const machine_options& options);
/// Writes a description after some readings. \param path "-" is standard output
int record(live_host& host, const std::string& path, const machine_options& options);

}  // namespace sukima::cli::host
