// SPDX-License-Identifier: Apache-2.0
// The scenarios of `sukima bench --nodes N --hope`: what runs, which nodes are killed when, and what the
// machine allows then.
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

/// \param words  empty: none, alone, kill-1 and, with more than two nodes, kill-(N-1)
/// \throws usage_error an unknown name, or too few nodes for one
std::vector<hope_scenario> parse_hope_scenarios(const std::vector<std::string>& words, int nodes);

/// The CPUs that nodes have, as far as the machine has them.
struct node_cpus {
  double each;     ///< of its workers, and of its quota
  double machine;  ///< that all share
  double of(int nodes) const;
};

/// The names of the rows that the scenarios are compared with.
inline constexpr const char* sequential_row = "sequential";  ///< one process with one worker, no node
inline constexpr const char* one_process_row = "one process";  ///< with as many workers as a node has
inline constexpr const char* one_node_row = "one node";  ///< with its quota, which a process does not have
inline constexpr const char* stealing_row = "stealing";  ///< as many nodes, which steal from each other

/// The rows of one benchmark: those to compare with, and one for each scenario. With a scenario with deaths
/// there is `none`, too.
/// \param one  a node's program, size and workers
std::vector<task> hope_tasks(const task& one, int nodes, bool has_quota,
                             const std::vector<hope_scenario>& scenarios);

/// Draws different nodes, and for each a moment, equally likely in a run of that many seconds.
std::vector<planned_death> draw_deaths(std::uint64_t seed, int nodes, int deaths, double seconds);

/// The time in which the nodes that live could do the work without any loss.
struct allowed_time {
  node_cpus cpus;
  int nodes;
  double of_one;  ///< seconds that one node takes for all of it
  double of_all;  ///< seconds that all nodes take
  /// The seconds if one node dies at each of the moments, ascending. Between one node and all, what k nodes
  /// do in a second grows with their CPUs. Linear in the deaths.
  double with(const std::vector<double>& deaths) const;

 private:
  double rate(int living) const;
};

}  // namespace sukima::cli::bench
