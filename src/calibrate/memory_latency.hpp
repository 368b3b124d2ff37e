// SPDX-License-Identifier: Apache-2.0
// Caches and memory nodes of the machine, from hwloc.
#pragma once

#include <sukima/capacity.h>

#include <memory>
#include <vector>

struct hwloc_topology;

namespace sukima::calibrate_detail {

class topology {
 public:
  /// \throws std::runtime_error  hwloc cannot read the machine
  topology();

  /// Whether two CPUs belong to one core, or share a cache of the second level.
  [[nodiscard]] bool are_near(unsigned first, unsigned second) const;

  /// Measures the latencies of reading memory of each node from a CPU of each node. Nodes without one of
  /// these CPUs, and nodes with memory that cannot be allocated, are skipped, and all of them if the control
  /// groups allow too little memory.
  [[nodiscard]] std::vector<sukima_capacity_latency> latencies(const std::vector<unsigned>& cpus) const;

 private:
  struct destroy {
    void operator()(hwloc_topology* one) const;
  };
  std::unique_ptr<hwloc_topology, destroy> machine_;
};

}  // namespace sukima::calibrate_detail
