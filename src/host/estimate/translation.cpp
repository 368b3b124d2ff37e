// SPDX-License-Identifier: Apache-2.0
// Translates a description to the numbers of a problem; see translation.hpp.
#include "estimate/translation.hpp"

#include <base/shared/assert.hpp>

namespace sukima::host {

double bound_of(const vcpu& one) { return std::min({1.0, one.cap.value_or(1), one.demand.value_or(1)}); }

share_limit limit_of(const vm& one, double usable) {
  double bounds = 0, caps = 0, online = 0;
  for (const vcpu& each : one.vcpus) {
    if (!each.online) continue;
    online += 1;
    caps += std::min(1.0, each.cap.value_or(1));
    bounds += bound_of(each);
  }
  const double close = 1e-6 * std::max(1.0, usable);
  if (usable >= online - close) return share_limit::vcpus;
  if (one.cap && usable >= *one.cap - close) return share_limit::cap;
  if (usable < bounds - close) return share_limit::others;
  return bounds < caps ? share_limit::demand : share_limit::vcpu_caps;
}

translation::translation(const description& host, std::optional<weight_owner> weight_of)
    : weight_of_(weight_of) {
  for (std::size_t p = 0; p < host.pcpus.size(); ++p) {
    position_.emplace(host.pcpus[p].id, p);
    all.capacity.push_back(host.pcpus[p].capacity);
  }
  const auto here = [&](weight_owner owner) {
    vms_.push_back({static_cast<std::uint32_t>(all.claimants.size()),
                    static_cast<std::uint32_t>(all.vcpus.size()), static_cast<std::uint32_t>(all.caps.size()),
                    owner});
  };
  for (std::size_t j = 0; j < host.vms.size(); ++j) {
    const vm& one = host.vms[j];
    const weight_owner owner = owner_of(j, one);
    here(owner);
    const auto count = static_cast<std::uint32_t>(one.vcpus.size());
    for (std::uint32_t i = 0; i < count; ++i) {
      runnable added;
      added.claimant = vms_.back().claimant + (owner == weight_owner::vm ? 0 : i);
      all.vcpus.push_back(added);
    }
    if (owner == weight_owner::vm) {
      all.claimants.push_back({1, infinite, vms_.back().vcpu, count});
    } else {
      for (std::uint32_t i = 0; i < count; ++i)
        all.claimants.push_back({1, infinite, vms_.back().vcpu + i, 1});
      all.caps.push_back({infinite, vms_.back().claimant, count});
    }
  }
  here(weight_owner::vcpu);
  SUKIMA_ASSERT(vms_.size() == host.vms.size() + 1, "the last location ends the last VM");
  for (std::size_t j = 0; j < host.vms.size(); ++j) replace(all, j, host.vms[j]);
}

weight_owner translation::owner_of(std::size_t vm, const host::vm& one) const {
  if (weight_of_) return *weight_of_;
  if (one.weight_of) return *one.weight_of;
  throw description_error(
      "vms[" + std::to_string(vm) +
      "].weight_of: is missing; say 'vcpu' if each vCPU has the weight (Xen), or 'vm' if all of a "
      "VM's share it (libvirt on KVM)");
}

cpu_set translation::set_of(const std::vector<std::uint32_t>& ids) const {
  cpu_set set(position_.size());
  for (const std::uint32_t id : ids) {
    const auto found = position_.find(id);
    if (found == position_.end()) throw description_error("CPU " + std::to_string(id) + " does not exist");
    set.add(found->second);
  }
  return set;
}

void translation::replace(problem& into, std::size_t vm, const host::vm& now) const {
  SUKIMA_ASSERT(now.vcpus.size() == end_vcpu(vm) - first_vcpu(vm),
                "a VM is replaced by one with as many vCPUs");
  const double weight = now.weight < negligible_weight ? least_weight : now.weight;
  const double cap = now.cap.value_or(infinite);
  cpu_set all_pcpus(position_.size());
  for (std::size_t p = 0; p < position_.size(); ++p) all_pcpus.add(p);
  for (std::uint32_t k = first_vcpu(vm); k < end_vcpu(vm); ++k) {
    const vcpu& one = now.vcpus[k - first_vcpu(vm)];
    runnable& added = into.vcpus[k];
    added.may = one.hard.empty() ? all_pcpus : set_of(one.hard);
    added.soft = one.soft.empty() ? cpu_set(position_.size()) : set_of(one.soft) & added.may;
    added.most = one.online ? bound_of(one) : 0;
    into.claimants[added.claimant].weight = weight;
  }
  if (joint_weight(vm))
    into.claimants[first_claimant(vm)].most = cap;
  else
    into.caps[vms_[vm].cap].most = cap;
}

}  // namespace sukima::host
