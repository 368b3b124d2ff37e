// SPDX-License-Identifier: Apache-2.0
// Parses the output of the nodes of one run.
#pragma once

#include <vector>

#include <base/shared/child.hpp>

#include "bench/measurement.hpp"
#include "bench/node_killer.hpp"

namespace sukima::cli::bench {

/// Parses the measurement in the nodes' output: the result on stdout, and a line for each node on stderr.
/// Further numbers are `tasks`, the number of tasks given away, and for several nodes their shares of the CPU
/// time: share_0, share_1, …, and share_least.
/// \param nodes 0: one process without nodes
outcome parse_node_output(const process::child_result& result, int nodes);

/// The same under hierarchical omission. The time is that of the first node with the result. The CPU time is
/// that of all nodes, including killed ones. Further numbers are `last_seconds` of the last node, and sums
/// over the nodes that were not killed:
/// - `published`: units with a result that was sent to other nodes
/// - `omitted`: units that ended by the result of another node
/// - `twice`: omitted units that had begun, and units that were left to another node that had begun them, too
/// - `messages`: each one to one node
outcome parse_hope_output(const process::child_result& result, int nodes,
                          const std::vector<node_death>& deaths);

/// Returns whether a node reached the end of its work, so that killing it afterwards had no effect.
bool has_reported_time(const process::child_result& result, int node);

}  // namespace sukima::cli::bench
