// SPDX-License-Identifier: Apache-2.0
// Starting the nodes of a cluster on this machine, and being their streams, their signals and their end.
#pragma once

#include <functional>
#include <string>
#include <system_error>
#include <vector>

namespace sukima::cluster {

struct launch_request {
  std::vector<std::string> program;  ///< looked for in PATH, and its arguments
  unsigned nodes = 2;
  bool tags = true;  ///< lines on stderr begin with the node: "[2] …"
  /// More variables of a node, NAME=VALUE; null: none.
  std::function<std::vector<std::string>(unsigned node)> variables;
};

struct node_end {
  int exit_code = 0;
  int signal = 0;  ///< that ended it; 0: it ended by itself
};

struct launch_result {
  std::vector<node_end> nodes;  ///< by node
  int first_failure = -1;  ///< the node other than 0 that failed while node 0 ran; -1: none
};

/// Runs a program on several nodes to its end. What is on stdin goes to each of them, at most 1 MiB ahead of
/// the slowest; stdout is node 0's, stderr that of all; signals that this process gets go on to all. Once
/// node 0 has ended the others get two seconds to end, too; when another one fails, so does node 0; then
/// they are ended. Nodes end when this process is killed.
/// \throws std::system_error a node cannot be started: nothing runs then
/// \pre one thread
launch_result launch(const launch_request& request);

}  // namespace sukima::cluster
