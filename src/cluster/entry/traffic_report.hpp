// SPDX-License-Identifier: Apache-2.0
// The report of what a node has counted, for `sukima cluster run --report` and `--json`.
#pragma once

#include "protocol/report.hpp"

#include <sukima/cluster.hpp>

namespace sukima::cluster {

/// Returns the report with all counts, each under the name of its member. It fits into one line
/// (write_report).
node_report report_of(const traffic& t);

}  // namespace sukima::cluster
