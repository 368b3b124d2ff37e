// SPDX-License-Identifier: Apache-2.0
// Kills nodes of a running cluster at given moments, as a failing machine would: from outside, by SIGKILL.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace sukima::cli::bench {

/// When a node must be killed.
struct planned_death {
  int node;
  double seconds;  ///< after all nodes' processes are there
};

/// How a node was killed.
struct node_death {
  int node;
  double seconds;      ///< after all nodes' processes were there
  double
      cpu_seconds;  ///< that it had used; what it used until the signal came, some microseconds, is missing
};

/// The death of some nodes of one run of `sukima cluster run`. Its nodes are found as the children of that
/// process that have SUKIMA_CLUSTER_NODE in their environment.
class node_killer {
 public:
  using clock = std::chrono::steady_clock;

  /// \param nodes how many must be there before the time of the plan begins
  node_killer(int nodes, std::vector<planned_death> plan);

  /// Looks for the nodes, or kills those that are due. \returns when to call it again; nothing: all is done
  /// \throws std::system_error the processes of nodes cannot be found in /proc
  std::optional<clock::time_point> step(pid_t launcher);

  /// The signals sent so far, by time. Whether a node died of its one, or had ended, its launcher knows.
  const std::vector<node_death>& deaths() const noexcept { return deaths_; }

 private:
  /// A process that keeps its meaning when another one gets its number.
  class process {
   public:
    explicit process(pid_t number);
    ~process();
    process(process&& other) noexcept
        : number_(other.number_), descriptor_(std::exchange(other.descriptor_, -1)) {}
    process& operator=(process&&) = delete;
    pid_t number() const noexcept { return number_; }
    /// \returns false: it is not there any more
    bool kill() const noexcept;

   private:
    pid_t number_;
    int descriptor_;
  };
  void find_nodes(pid_t launcher);

  std::size_t nodes_;
  std::vector<planned_death> plan_;  ///< those to come, the next one last
  std::map<int, process> found_;
  std::optional<clock::time_point> begin_;  ///< all were there
  std::vector<node_death> deaths_;
};

}  // namespace sukima::cli::bench
