// SPDX-License-Identifier: Apache-2.0
// The option --metrics; see metrics.hpp.
#include "host/metrics.hpp"

#include <fmt/format.h>

#include <base/shared/errors.hpp>

namespace sukima::cli::host {

std::unique_ptr<sukima::host::metrics_output> open_metrics_at(const std::string& where) {
  try {
    return sukima::host::open_metrics(where);
  } catch (const sukima::host::metrics_error& error) {
    throw process::usage_error(fmt::format("--metrics: {}", error.what()));
  }
}

}  // namespace sukima::cli::host
