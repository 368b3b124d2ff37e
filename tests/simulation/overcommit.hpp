// SPDX-License-Identifier: Apache-2.0
// A search that forks, run by the runtime in one or more virtual machines of the laboratory.
#pragma once

#include "laboratory.hpp"

#include <sukima/context.hpp>
#include <sukima/settings.hpp>

#include <cstdint>
#include <string>

namespace sukima::simulation {

/// A search: a tree with an irregular shape, which depends on the seed, and work at each node.
struct search_shape {
  std::uint64_t seed = 1;
  unsigned rounds = 10;  ///< number of searches, one after the other
  unsigned nodes = 800;  ///< number of nodes of each tree
  std::uint64_t mean_work = 20'000;  ///< mean work at a node, in nanoseconds
};

/// Returns the total work of all rounds.
std::uint64_t work_of(const search_shape& shape);
/// Searches the tree of a round. \returns the number of its nodes
std::uint64_t search(context c, const search_shape& shape, unsigned round);

/// One run of the laboratory.
struct cell {
  unsigned machines = 1;  ///< number of machines; each runs the program with its own runtime
  unsigned vcpus = 16;  ///< of each machine
  unsigned busy_vcpus = 0;  ///< of one additional machine; these vCPUs never wait
  // Of each machine, as in guest_shape.
  std::uint64_t quota = 0;
  std::uint64_t phase = 0;
  pcpu_set allowed;
  pcpu_set preferred;
  search_shape search;
  settings runtime;
  laboratory_setup setup;
};

/// Times are in simulated nanoseconds.
struct measurement {
  std::uint64_t time = 0;  ///< from the common start to the end of the last machine
  std::uint64_t sum_of_times = 0;  ///< of all machines
  std::uint64_t work = 0;  ///< done in all machines
  std::uint64_t used = 0;  ///< CPU time of all machines until then
  std::uint64_t most_in_a_period = 0;  ///< the most that a machine used, if there are quotas
  std::uint64_t steals = 0;
  std::uint64_t sleeps = 0;  ///< waits on a futex or a condition variable
  std::uint64_t exits = 0;  ///< number of exits from loops of pauses
  std::uint64_t switching = 0;  ///< time that the pCPUs needed to switch between vCPUs, from the beginning
  std::uint64_t sharing = 0;  ///< hypervisor::sharing() while the last machine ran
  trace steps;
  friend bool operator==(const measurement&, const measurement&) = default;
};

/// Returns settings of a runtime with a fixed number of workers that move freely. The texts are values of
/// SUKIMA_WAIT and SUKIMA_STEAL. \throws std::invalid_argument one of them is wrong
settings fixed_workers(const std::string& wait, const std::string& steal, unsigned workers);

/// Runs a cell in a separate process. \throws std::runtime_error the run failed; the message has the reason
measurement simulate(const cell& c);

}  // namespace sukima::simulation
