// SPDX-License-Identifier: Apache-2.0
// Translates a description to the numbers of a problem.
#pragma once

#include <unordered_map>

#include "estimate/problem.hpp"
#include "shared/estimate.hpp"

namespace sukima::host {

/// A problem, with the positions of the description's VMs in it.
class translation {
 public:
  /// \throws description_error  the owner of a weight is not known
  translation(const description& host, std::optional<weight_owner> weight_of);

  problem all;

  /// The first claimant of a VM, and one past its last; likewise for vCPUs.
  std::uint32_t first_claimant(std::size_t vm) const { return vms_[vm].claimant; }
  std::uint32_t end_claimant(std::size_t vm) const { return vms_[vm + 1].claimant; }
  std::uint32_t first_vcpu(std::size_t vm) const { return vms_[vm].vcpu; }
  std::uint32_t end_vcpu(std::size_t vm) const { return vms_[vm + 1].vcpu; }
  /// Whether all vCPUs of the VM share one weight.
  bool joint_weight(std::size_t vm) const { return vms_[vm].owner == weight_owner::vm; }

  /// Replaces a VM in `into`, a copy of `all`, by a VM with the same number of vCPUs.
  void replace(problem& into, std::size_t vm, const host::vm& now) const;
  /// The owner of the VM's weight. \throws description_error  it is not known
  weight_owner owner_of(std::size_t vm, const host::vm& one) const;

 private:
  struct location {
    std::uint32_t claimant, vcpu, cap;
    weight_owner owner;
  };
  cpu_set set_of(const std::vector<std::uint32_t>& ids) const;

  std::optional<weight_owner> weight_of_;
  std::unordered_map<std::uint32_t, std::size_t> position_;  // the position of each pCPU, by its id
  std::vector<location> vms_;  // of each VM, and an end marker
};

/// The most that the vCPU uses when it is online, in CPUs.
double bound_of(const vcpu& one);

/// The reason why a VM cannot use more than its usable CPUs.
share_limit limit_of(const vm& one, double usable);

}  // namespace sukima::host
