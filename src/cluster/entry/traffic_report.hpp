// SPDX-License-Identifier: Apache-2.0
// The report of a node's counters, for `sukima cluster run --report` and `--json`.
#pragma once

#include "protocol/report.hpp"

#include <sukima/cluster.hpp>

namespace sukima::cluster {

/// Returns a report with all counters, each under the name of its member. It fits into one line
/// (write_report).
node_report report_of(const traffic& t);

}  // namespace sukima::cluster
