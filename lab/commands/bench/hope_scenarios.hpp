// SPDX-License-Identifier: Apache-2.0
// The scenarios of `sukima bench --nodes N --hope`: the runs, the planned deaths of nodes, and the time that
// the machine then allows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/measurement.hpp"
#include "bench/node_killer.hpp"

namespace sukima::cli::bench {

/// One of "none" (all nodes live), "alone" (one node under hierarchical omission) and "kill-K" (K of the
/// nodes are killed).
struct hope_scenario {
  std::string name;
  int nodes;
  int deaths = 0;
};

/// \param words empty: none, alone, kill-1 and, with more than two nodes, kill-(N-1)
/// \throws usage_error for an unknown name, or for too few nodes
std::vector<hope_scenario> parse_hope_scenarios(const std::vector<std::string>& words, int nodes);

/// The CPUs of nodes, limited by those of the machine.
struct node_cpus {
  double each;     ///< of one node, by its workers and its quota
  double machine;  ///< shared by all nodes
  double of(int nodes) const;
};

/// The names of the reference rows.
inline constexpr const char* sequential_row = "sequential";  ///< one process with one worker, without nodes
inline constexpr const char* one_process_row = "one process";  ///< with as many workers as a node has
inline constexpr const char* one_node_row = "one node";  ///< with a node's quota, in contrast to one process
inline constexpr const char* stealing_row =
    "stealing";  ///< the same number of nodes, which steal from each other

/// The rows of one benchmark: the references, and one row for each scenario. A scenario with deaths adds the
/// scenario "none".
/// \param one a node's program, size and workers
std::vector<task> hope_tasks(const task& one, int nodes, bool has_quota,
                             const std::vector<hope_scenario>& scenarios);

/// Draws different nodes, and a moment for each, uniformly distributed over a run of that many seconds.
std::vector<planned_death> draw_deaths(std::uint64_t seed, int nodes, int deaths, double seconds);

/// The time that the living nodes need if no work is lost.
struct allowed_time {
  node_cpus cpus;
  int nodes;
  double of_one;  ///< seconds that one node needs for all the work
  double of_all;  ///< seconds that all nodes together need
  /// Returns the seconds if one node dies at each of the moments, which ascend. The speed of k nodes is
  /// interpolated by their CPUs, between one node and all. Linear in the deaths.
  double with(const std::vector<double>& deaths) const;

 private:
  double rate(int living) const;
};

}  // namespace sukima::cli::bench
