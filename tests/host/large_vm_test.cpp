// SPDX-License-Identifier: Apache-2.0
// VMs of very many vCPUs, whose sums are rounded more than those of others.
#include <gtest/gtest.h>

#include <utility>

#include "random_hosts.hpp"

namespace sukima::host {
namespace {

/// One VM, alone on the largest host.
description one_vm(std::size_t vcpus, double cap, weight_owner owner) {
  description host = examples::host_of(most_pcpus);
  vm one;
  one.name = "a";
  one.weight_of = owner;
  one.cap = cap;
  one.vcpus.resize(vcpus);
  for (std::size_t i = 0; i < vcpus; ++i) one.vcpus[i].id = static_cast<std::uint32_t>(i);
  host.vms.push_back(std::move(one));
  return host;
}

TEST(large_vm, reaches_its_cap) {
  // The sum of 60,000 equal parts of this cap is larger than the cap by more than 1e-9.
  for (const auto& [vcpus, cap] : {std::pair<std::size_t, double>{60000, 876.869}, {65536, 1023.999}}) {
    SCOPED_TRACE(vcpus);
    for (const weight_owner owner : {weight_owner::vcpu, weight_owner::vm}) {
      const estimator exact(one_vm(vcpus, cap, owner));
      EXPECT_NEAR(exact.usable(0), cap, 1e-6);
    }
  }
}

}  // namespace
}  // namespace sukima::host
