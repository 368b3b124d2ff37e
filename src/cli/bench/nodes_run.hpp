// SPDX-License-Identifier: Apache-2.0
// One run of a program on several nodes, each perhaps in a control group of its own, and the meaning of its
// output.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/group_home.hpp"
#include "bench/measurement.hpp"

namespace sukima::cli::bench {

/// What joins the nodes: "tcp", by `sukima cluster run`, or an MPI, by its mpirun.
const std::vector<std::string>& node_transports();

/// The measurement in what the nodes printed: on stdout the result, on stderr a line for each node. Further
/// numbers: `tasks`, given by all together, and of several nodes share_0, share_1, … of the CPU time, and
/// share_least.
/// \param nodes 0: one process that is no node
outcome parse_node_output(const child_result& result, int nodes);

class node_stage {
 public:
  /// \param quota the CPUs that each node gets; nothing: no limit
  /// \throws usage_error the mpirun is not installed, or no groups with a quota can be made
  node_stage(std::string transport, std::optional<double> quota);

  /// Runs a task: on its nodes, or as one process without a quota. Throws std::system_error when a program
  /// cannot be started, or a group not made.
  outcome run(const task& what, std::chrono::nanoseconds limit) const;

 private:
  std::vector<std::string> starting_words(int nodes) const;

  std::string transport_;
  std::string starter_;  ///< the program that starts nodes
  std::optional<double> quota_;
  group_home home_;
};

}  // namespace sukima::cli::bench
