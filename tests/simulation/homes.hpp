// SPDX-License-Identifier: Apache-2.0
// The home of each virtual CPU (vCPU): the pCPU for which it waits. Follows the rules of Xen's credit
// scheduler (xen/common/sched_credit.c of Xen 4.4). Each vCPU may run on some pCPUs, its hard affinity, and
// prefers some of them, its soft affinity. In Xen 4.4 these are the vCPU affinity and the NUMA-node affinity.
#pragma once

#include "building.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sukima::simulation {

class homes {
 public:
  /// \param seed  shuffles the first homes; 0: they follow the order of the pCPUs
  homes(std::size_t pcpus, const building& built, std::uint64_t seed);

  /// Adds the next vCPUs. They get their first homes in turn, if possible among the pCPUs that they prefer.
  /// \param allowed    the pCPUs on which they may run: at least one
  /// \param preferred  the pCPUs on which they run if one is idle; if none is in `allowed`, they prefer none
  void add(std::size_t vcpus, const pcpu_set& allowed, const pcpu_set& preferred);

  std::size_t home(std::size_t vcpu) const noexcept { return vcpus_[vcpu].home; }
  void move(std::size_t vcpu, std::size_t pcpu) noexcept { vcpus_[vcpu].home = pcpu; }

  /// Returns the pCPU on which a vCPU that wakes runs: its home if that is idle, otherwise the next idle pCPU
  /// that it prefers, otherwise the next idle pCPU on which it may run. If there is none, it waits at home.
  /// As in __runq_tickle of Xen.
  std::size_t wake(std::size_t vcpu, const pcpu_set& idle);
  /// Returns the best home for a running vCPU. Idle pCPUs that it prefers come before all others. Among them,
  /// a pCPU is better if more CPUs of its module are idle, or if its processor has twice as many idle pCPUs.
  /// As in _csched_cpu_pick of Xen.
  /// \param idle  the idle pCPUs, as if that vCPU did not run
  std::size_t best(std::size_t vcpu, const pcpu_set& idle) const;
  /// Whether an idle pCPU may take that vCPU. \param prefers  whether the vCPU must also prefer the pCPU
  bool may_take(std::size_t pcpu, std::size_t vcpu, bool prefers) const noexcept {
    return prefers ? vcpus_[vcpu].preferred[pcpu] : vcpus_[vcpu].allowed[pcpu];
  }

 private:
  struct entry {
    pcpu_set allowed;
    pcpu_set preferred;  ///< a subset of `allowed`, perhaps empty
    std::size_t home;
  };

  std::size_t best_among(const pcpu_set& set, std::size_t home, const pcpu_set& idle) const;

  const building built_;
  const std::uint64_t seed_;
  std::vector<entry> vcpus_;
  std::size_t last_chosen_;
};

}  // namespace sukima::simulation
