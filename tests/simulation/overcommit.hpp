// SPDX-License-Identifier: Apache-2.0
// A search that forks, run by the runtime in one or more virtual machines of the laboratory.
#pragma once

#include "laboratory.hpp"

#include <sukima/context.hpp>
#include <sukima/settings.hpp>

#include <cstdint>
#include <string>

namespace sukima::simulation {

/// A search as a tree with an irregular shape, which the seed decides, and work at each node.
struct search_shape {
  std::uint64_t seed = 1;
  unsigned rounds = 10;  ///< searches, one after the other
  unsigned nodes = 800;  ///< of each tree
  std::uint64_t mean_work = 20'000;  ///< nanoseconds of work at a node, on average
};

/// The work of all rounds.
std::uint64_t work_of(const search_shape& shape);
/// Searches the tree of a round. \returns the number of its nodes
std::uint64_t search(context c, const search_shape& shape, unsigned round);

/// One run of the laboratory.
struct cell {
  unsigned machines = 1;  ///< each runs the program with a runtime of its own
  unsigned vcpus = 16;  ///< of each machine
  unsigned busy_vcpus = 0;  ///< of one more machine, which never wait
  // Of each machine: guest_shape.
  std::uint64_t quota = 0;
  pcpu_set allowed;
  pcpu_set preferred;
  search_shape search;
  settings runtime;
  laboratory_setup setup;
};

/// Times are in simulated nanoseconds.
struct measurement {
  std::uint64_t time = 0;  ///< from the common begin to the end of the last machine
  std::uint64_t sum_of_times = 0;  ///< of all machines
  std::uint64_t work = 0;  ///< that was done in all machines
  std::uint64_t used = 0;  ///< CPU time of all machines in that time
  std::uint64_t most_in_a_period = 0;  ///< that any machine used, if there are quotas
  std::uint64_t steals = 0;
  std::uint64_t sleeps = 0;  ///< waits on a futex or a condition variable
  std::uint64_t exits = 0;  ///< of loops of pauses
  std::uint64_t switching = 0;  ///< time of the pCPUs between vCPUs, from the beginning
  std::uint64_t sharing = 0;  ///< hypervisor::sharing() while the last machine ran
  trace steps;
  friend bool operator==(const measurement&, const measurement&) = default;
};

/// Settings of a runtime whose workers stay as many and move freely. The texts are those of SUKIMA_WAIT and
/// SUKIMA_STEAL. \throws std::invalid_argument if one of them is wrong
settings fixed_workers(const std::string& wait, const std::string& steal, unsigned workers);

/// Runs a cell in a process of its own. \throws std::runtime_error with what went wrong
measurement simulate(const cell& c);

}  // namespace sukima::simulation
