// SPDX-License-Identifier: Apache-2.0
// Made-up hosts for tests.
#pragma once

#include <host/shared/estimate.hpp>
#include <random>

namespace sukima::host::examples {

/// Where the vCPUs of a random host may run.
enum class affinity { few_anywhere, some_anywhere, range, half_of_all, node, skewed };
inline constexpr int affinity_kinds = 6;
const char* name_of(affinity kind);

struct shape {
  std::size_t pcpus = 1, vcpus = 1;
  affinity where = affinity::few_anywhere;
  bool weights = false;     ///< powers of two from 64 to 1024
  bool extremes = false;    ///< some of the weights are 0, 1 or 65,535
  bool bounds = false;      ///< caps and demands of vCPUs
  bool vm_caps = false;     ///< caps of VMs
  bool capacities = false;  ///< some pCPUs have a capacity below 1
  bool offline = false;     ///< some vCPUs are offline
  std::optional<weight_owner> owner = weight_owner::vcpu;  ///< nothing: drawn for each VM
};

using generator = std::mt19937_64;

/// Returns a number from `least` to `most`.
std::size_t draw(generator& random, std::size_t least, std::size_t most);
/// Returns a shape with up to these numbers of CPUs; all other values are drawn.
shape random_shape(std::size_t most_pcpus, std::size_t most_vcpus, generator& random);
/// Returns a host whose bounds and capacities are multiples of 0.01.
description random_host(const shape& like, generator& random);
/// Changes one property of a VM at random, among the properties that `like` has.
void change_vm(vm& one, const shape& like, generator& random);

/// Returns a host with n pCPUs, 0 … n − 1.
description host_of(std::size_t pcpus);
/// Adds a VM with vCPUs that may use these lists of pCPUs (empty: all), with the weight of each.
vm& add_vm(description& host, const std::string& name, const std::vector<std::string>& hard,
           double weight = 256, weight_owner owner = weight_owner::vcpu);
/// Figure 14 of paper 001: VM a with vCPUs 0 and 1 on pCPUs 0–1, VM b with vCPUs 2–4 on pCPUs 1–3.
description figure_14();
/// Six VMs with one vCPU each, for which the paper's partition is wrong.
description counterexample();

}  // namespace sukima::host::examples
