// SPDX-License-Identifier: Apache-2.0
// Kills nodes of a running cluster at given moments, as a failing machine would: from outside, by SIGKILL.
#pragma once

#include <sys/types.h>
#include <base/shared/descriptor.hpp>

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <vector>

namespace sukima::cli::bench {

/// A node and the moment of its death.
struct planned_death {
  int node;
  double seconds;  ///< after the processes of all nodes exist
};

/// The actual death of a node.
struct node_death {
  int node;
  double seconds;      ///< after the processes of all nodes existed
  double cpu_seconds;  ///< used by the node, without the last microseconds before the signal
};

/// Kills some nodes of one run of `sukima cluster run`. The nodes are the children of that process with
/// SUKIMA_CLUSTER_NODE in their environment.
class node_killer {
 public:
  using clock = std::chrono::steady_clock;

  /// \param nodes number of nodes that must exist before the time of the plan begins
  node_killer(int nodes, std::vector<planned_death> plan);

  /// Searches for the nodes, or kills those whose time has come. \returns the time of the next call; nothing
  /// at the end
  /// \throws std::system_error if /proc cannot be read
  std::optional<clock::time_point> step(pid_t launcher);

  /// Returns the signals sent so far, by time. Only the launcher knows whether a node died of its signal or
  /// had ended before.
  const std::vector<node_death>& deaths() const noexcept { return deaths_; }

 private:
  /// A process by a descriptor, which stays valid if another process gets the same number.
  class process {
   public:
    explicit process(pid_t number);
    pid_t number() const noexcept { return number_; }
    /// \returns false if the process has ended
    bool kill() const noexcept;

   private:
    pid_t number_;
    descriptor handle_;
  };
  void find_nodes(pid_t launcher);

  std::size_t nodes_;
  std::vector<planned_death> plan_;  ///< the remaining deaths, the next one last
  std::map<int, process> found_;
  std::optional<clock::time_point> begin_;  ///< when all nodes existed
  std::vector<node_death> deaths_;
};

}  // namespace sukima::cli::bench
