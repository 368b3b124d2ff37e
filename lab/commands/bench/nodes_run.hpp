// SPDX-License-Identifier: Apache-2.0
// One run of a program on several nodes, optionally each in a control group of its own.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/measurement.hpp"
#include "bench/node_killer.hpp"
#include "shared/group_home.hpp"

namespace sukima::cli::bench {

/// The largest number of nodes of `sukima cluster run`.
inline constexpr int most_nodes = 64;

/// The connections between nodes: "tcp", by `sukima cluster run`, or an MPI, by its mpirun.
const std::vector<std::string>& node_transports();

class node_stage {
 public:
  /// \param quota the CPUs that each node gets; nothing: no limit
  /// \throws usage_error if mpirun is not installed, or if no groups with a quota can be made
  node_stage(std::string transport, std::optional<double> quota);

  /// Runs a task: on its nodes, or as one process without a quota. Throws std::system_error when a program
  /// cannot be started, or a group not made.
  outcome run(const task& task, std::chrono::nanoseconds limit) const;

  /// Runs a task under hierarchical omission, and kills nodes as planned. Throws what run() throws.
  /// \returns nothing if a node ended before its planned death
  /// \pre the transport is tcp, and at least one node is not killed
  std::optional<outcome> run_hope(const task& task, std::chrono::nanoseconds limit,
                                  const std::vector<planned_death>& plan) const;

 private:
  using node_groups = std::vector<std::unique_ptr<lab::cpu_group>>;

  std::vector<std::string> starting_words(int nodes) const;
  node_groups make_groups(int nodes) const;  ///< none without a quota
  process::child_request request_for(const task& task, std::chrono::nanoseconds limit,
                                     std::vector<std::string> starter) const;

  std::string transport_;
  std::string starter_;  ///< the program that starts nodes
  std::optional<double> quota_;
  lab::group_home home_;
};

}  // namespace sukima::cli::bench
