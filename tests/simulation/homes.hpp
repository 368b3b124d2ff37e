// SPDX-License-Identifier: Apache-2.0
// The pCPU for which each virtual CPU (vCPU) waits, its home, by the rules of Xen's credit scheduler
// (xen/common/sched_credit.c of Xen 4.4). Each vCPU may run on some pCPUs, its hard affinity, and prefers
// some of them, its soft affinity. In Xen 4.4 those are the vCPU affinity and the NUMA-node affinity.
#pragma once

#include "building.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sukima::simulation {

class homes {
 public:
  /// \param seed  shuffles the first homes; 0: they are in the order of the pCPUs
  homes(std::size_t pcpus, const building& built, std::uint64_t seed);

  /// The next vCPUs, which get their first homes in turn, if possible among the pCPUs that they prefer.
  /// \param allowed    where they may run: at least one pCPU
  /// \param preferred  where they run if it is idle; none of `allowed`: they have no preference
  void add(std::size_t vcpus, const pcpu_set& allowed, const pcpu_set& preferred);

  std::size_t home(std::size_t vcpu) const noexcept { return vcpus_[vcpu].home; }
  void move(std::size_t vcpu, std::size_t pcpu) noexcept { vcpus_[vcpu].home = pcpu; }

  /// Where a vCPU that wakes runs: at home if that is idle, else on the next idle pCPU that it prefers, else
  /// on the next idle one where it may run. Without any it waits at home. As __runq_tickle of Xen.
  std::size_t wake(std::size_t vcpu, const pcpu_set& idle);
  /// The best home for a vCPU that runs. Idle pCPUs that it prefers come before all others. Among these one
  /// is better if more of its module are idle, or if its processor has twice as many idle pCPUs. As
  /// _csched_cpu_pick of Xen.
  /// \param idle  as if that vCPU did not run
  std::size_t best(std::size_t vcpu, const pcpu_set& idle) const;
  /// Whether an idle pCPU may take that vCPU. \param prefers  only if the vCPU prefers it
  bool may_take(std::size_t pcpu, std::size_t vcpu, bool prefers) const noexcept {
    return prefers ? vcpus_[vcpu].preferred[pcpu] : vcpus_[vcpu].allowed[pcpu];
  }

 private:
  struct entry {
    pcpu_set allowed;
    pcpu_set preferred;  ///< a part of it, perhaps empty
    std::size_t home;
  };

  std::size_t best_among(const pcpu_set& set, std::size_t home, const pcpu_set& idle) const;

  const building built_;
  const std::uint64_t seed_;
  std::vector<entry> vcpus_;
  std::size_t last_chosen_;
};

}  // namespace sukima::simulation
