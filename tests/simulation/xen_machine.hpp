// SPDX-License-Identifier: Apache-2.0
// The machine of the experiment on conflicts of affinity in the slides: two processors, each with two NUMA
// nodes of four modules of two CPUs, and a virtual machine of 16 vCPUs on them.
#pragma once

#include "overcommit.hpp"

namespace sukima::simulation {

/// Where the vCPUs may run, and where they run if possible.
struct affinities {
  const char* name;
  pcpu_set allowed;
  pcpu_set preferred;
  bool is_virtual = true;  ///< false: without a hypervisor; the operating system chooses the CPUs
};

inline constexpr unsigned cpus_of_node = 8;

affinities physical_machine();  ///< CPUs of one processor
affinities eight_and_eight();  ///< "8-8": vCPUs bound to a node of each processor, preferred nodes 0 and 2
affinities sixteen_of_one();  ///< "0-16": vCPUs bound to processor 2, preferred nodes 0 and 2
affinities nodes_only();  ///< preferred nodes 0 and 2
affinities binding_only();  ///< vCPUs bound to processor 2
affinities no_affinity();

struct affinity_measurement {
  double time = 0;  ///< simulated milliseconds
  double shared_modules = 0;  ///< mean number of modules whose two CPUs are busy
};

/// Runs the search with that number of threads. Returns the mean over that number of drawings of the vCPUs'
/// first homes.
affinity_measurement measure(const affinities& where, unsigned threads, const search_shape& search,
                             unsigned drawings);

}  // namespace sukima::simulation
