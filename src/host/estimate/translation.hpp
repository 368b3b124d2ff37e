// SPDX-License-Identifier: Apache-2.0
// From a description to the numbers of a problem.
#pragma once

#include <unordered_map>

#include "estimate/problem.hpp"
#include "shared/estimate.hpp"

namespace sukima::host {

/// A problem, and where in it the VMs of its description are.
class translation {
 public:
  /// \throws description_error if it is not known whose a weight is
  translation(const description& host, std::optional<weight_owner> weight_of);

  problem all;

  /// The first claimant of a VM, and the one after its last; likewise of vCPUs.
  std::uint32_t first_claimant(std::size_t vm) const { return vms_[vm].claimant; }
  std::uint32_t end_claimant(std::size_t vm) const { return vms_[vm + 1].claimant; }
  std::uint32_t first_vcpu(std::size_t vm) const { return vms_[vm].vcpu; }
  std::uint32_t end_vcpu(std::size_t vm) const { return vms_[vm + 1].vcpu; }
  /// Whether all of its vCPUs have one weight together.
  bool joint_weight(std::size_t vm) const { return vms_[vm].owner == weight_owner::vm; }

  /// Writes a VM with as many vCPUs over what `into`, a copy of `all`, has of it.
  void replace(problem& into, std::size_t vm, const host::vm& now) const;
  /// The owner of the weight of a VM. \throws description_error if that is not known
  weight_owner owner_of(std::size_t vm, const host::vm& one) const;

 private:
  struct location {
    std::uint32_t claimant, vcpu, cap;
    weight_owner owner;
  };
  cpu_set set_of(const std::vector<std::uint32_t>& ids) const;

  std::optional<weight_owner> weight_of_;
  std::unordered_map<std::uint32_t, std::size_t> position_;  // of a pCPU's id
  std::vector<location> vms_;  // and one more
};

/// The most that the vCPU uses if it is online, in CPUs.
double bound_of(const vcpu& one);

/// What keeps a VM from using more than its usable CPUs.
share_limit limit_of(const vm& one, double usable);

}  // namespace sukima::host
