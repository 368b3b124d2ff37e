// SPDX-License-Identifier: Apache-2.0
// The meaning of what the nodes of one run print.
#pragma once

#include <vector>

#include <process/shared/child.hpp>

#include "bench/measurement.hpp"
#include "bench/node_killer.hpp"

namespace sukima::cli::bench {

/// The measurement in what the nodes printed: on stdout the result, on stderr a line for each node. Further
/// numbers: `tasks`, given by all together, and of several nodes share_0, share_1, … of the CPU time, and
/// share_least.
/// \param nodes 0: one process that is no node
outcome parse_node_output(const process::child_result& result, int nodes);

/// The same under hierarchical omission: the time is that of the first node that has the result, the CPU time
/// that of all, those killed included. Further numbers: `last_seconds`, of the last node; and of all that
/// lived together `published`, units whose result was sent to others; `omitted`, units that ended by another
/// node's result; `twice`, those that had begun before that, or were left to another node that had begun
/// them, too; and `messages`, each one to one node.
outcome parse_hope_output(const process::child_result& result, int nodes,
                          const std::vector<node_death>& deaths);

/// Whether a node came to the end of its work: what killed it then changed nothing.
bool has_told_time(const process::child_result& result, int node);

}  // namespace sukima::cli::bench
