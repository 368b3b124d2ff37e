// SPDX-License-Identifier: Apache-2.0
// Large hosts: VMs of very many vCPUs, whose sums are rounded more than those of others, and many VMs.
#include <gtest/gtest.h>

#include <utility>

#include "estimate/certificate.hpp"
#include "estimate/translation.hpp"
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

/// VMs of four vCPUs, each VM on 16 neighbouring pCPUs and with a weight of 128, 256 or 512.
description neighbours(std::size_t pcpus, std::size_t vms) {
  examples::generator random(15);
  description host = examples::host_of(pcpus);
  for (std::size_t j = 0; j < vms; ++j) {
    const std::size_t first = examples::draw(random, 0, pcpus - 16);
    const std::string where = std::to_string(first) + "-" + std::to_string(first + 15);
    examples::add_vm(host, "v" + std::to_string(j), {where, where, where, where},
                     static_cast<double>(128U << examples::draw(random, 0, 2)), weight_owner::vm);
  }
  return host;
}

/// CPU moves over many pCPUs here, and each vCPU has little of one: all of them must move it at once.
TEST(many_vms, on_neighbouring_pcpus_need_few_searches) {
  shares solution(translation(neighbours(128, 512), {}).all);
  solution.solve();
  EXPECT_EQ(find_defect(solution), "");
  EXPECT_LE(solution.searches(), 150U);
}

}  // namespace
}  // namespace sukima::host
