// SPDX-License-Identifier: Apache-2.0
// Estimates the shares of a description by each method; see shared/estimate.hpp.
#include "shared/estimate.hpp"

#include <numeric>

#include "estimate/partition.hpp"
#include "estimate/translation.hpp"

namespace sukima::host {
namespace {

std::vector<vm_estimate> by_partition(const description& host, const translation& numbers) {
  const std::vector<double> shares = partition_shares(numbers.all);
  std::vector<vm_estimate> result(host.vms.size());
  for (std::size_t j = 0; j < result.size(); ++j) {
    vm_estimate& one = result[j];
    one.vcpus.assign(shares.begin() + numbers.first_vcpu(j), shares.begin() + numbers.end_vcpu(j));
    one.usable = std::accumulate(one.vcpus.begin(), one.vcpus.end(), 0.0);
    const double cap = host.vms[j].cap.value_or(infinite);
    if (one.usable > cap) {
      for (double& share : one.vcpus) share *= cap / one.usable;
      one.usable = cap;
    }
    one.limit = limit_of(host.vms[j], one.usable);
  }
  return result;
}

std::vector<vm_estimate> by_formula(const description& host, const translation& numbers) {
  const double room = std::accumulate(numbers.all.capacity.begin(), numbers.all.capacity.end(), 0.0);
  std::vector<double> online(host.vms.size()), weights(host.vms.size());
  for (std::size_t j = 0; j < host.vms.size(); ++j) {
    for (const vcpu& each : host.vms[j].vcpus) online[j] += each.online ? 1 : 0;
    if (online[j] > 0) weights[j] = host.vms[j].weight * (numbers.joint_weight(j) ? 1 : online[j]);
  }
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<vm_estimate> result(host.vms.size());
  for (std::size_t j = 0; j < result.size(); ++j) {
    const double cap = host.vms[j].cap.value_or(infinite);
    result[j].usable = all > 0 ? std::min({online[j], cap, room * weights[j] / all}) : 0;
    for (const vcpu& each : host.vms[j].vcpus)
      result[j].vcpus.push_back(each.online ? result[j].usable / online[j] : 0);
    result[j].limit = limit_of(host.vms[j], result[j].usable);
  }
  return result;
}

}  // namespace

std::vector<vm_estimate> estimate_shares(const description& host, const estimate_options& how) {
  if (how.method == estimate_method::partition) return by_partition(host, translation(host, how.weight_of));
  if (how.method == estimate_method::formula) return by_formula(host, translation(host, how.weight_of));
  const estimator exact(host, how.weight_of);
  std::vector<vm_estimate> result;
  for (std::size_t j = 0; j < host.vms.size(); ++j) result.push_back(exact.of(j));
  return result;
}

}  // namespace sukima::host
