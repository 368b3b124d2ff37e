// SPDX-License-Identifier: Apache-2.0
// What a VM could use if it wanted more, and what it costs to ask that of all VMs.
#include <gtest/gtest.h>

#include "random_hosts.hpp"

namespace sukima::host {
namespace {

/// The host, with a VM that wants all that it can get.
description with_greedy(description host, std::size_t vm, bool all_online) {
  for (vcpu& one : host.vms[vm].vcpus) {
    one.demand.reset();
    one.online = one.online || all_online;
  }
  return host;
}

TEST(potential, is_that_of_a_new_estimate) {
  examples::generator random(11);
  for (int k = 0; k < 200; ++k) {
    SCOPED_TRACE(k);
    const examples::shape like = examples::random_shape(8, 30, random);
    const estimator exact(examples::random_host(like, random));
    for (std::size_t j = 0; j < exact.given().vms.size(); ++j) {
      const vm_potential found = exact.potential(j);
      EXPECT_NEAR(found.usable, estimator(with_greedy(exact.given(), j, false)).usable(j), 1e-7);
      const estimator whole(with_greedy(exact.given(), j, true));
      EXPECT_NEAR(found.usable_by_all, whole.usable(j), 1e-7);
      EXPECT_EQ(found.counts.fit, whole.counts(j).fit);
      EXPECT_EQ(found.counts.ceil, whole.counts(j).ceil);
    }
  }
}

TEST(potential, follows_changes_of_many_vms) {
  examples::generator random(12);
  for (int k = 0; k < 100; ++k) {
    SCOPED_TRACE(k);
    const examples::shape like = examples::random_shape(8, 30, random);
    estimator exact(examples::random_host(like, random));
    for (int round = 0; round < 3; ++round) {
      std::vector<vm_wishes> now;
      for (std::size_t j = 0; j < exact.given().vms.size(); ++j) {
        if (examples::draw(random, 0, 1) == 0) continue;
        now.push_back({j, std::vector<vcpu_wish>(exact.given().vms[j].vcpus.size())});
        for (vcpu_wish& one : now.back().vcpus) {
          one.online = examples::draw(random, 0, 3) > 0;
          if (examples::draw(random, 0, 2) > 0)
            one.demand = static_cast<double>(examples::draw(random, 0, 100)) / 100;
        }
      }
      exact.change(now);
      ASSERT_EQ(exact.defect(), "");
      const estimator fresh(exact.given());
      for (std::size_t j = 0; j < exact.given().vms.size(); ++j) {
        ASSERT_NEAR(exact.usable(j), fresh.usable(j), 1e-7);
        ASSERT_NEAR(exact.potential(j).usable, fresh.potential(j).usable, 1e-7);
      }
    }
  }
}

/// 1024 VMs of four vCPUs on 256 pCPUs, each on one of `nodes` nodes, of which a third is nearly idle.
description large_host(std::size_t nodes, weight_owner owner, examples::generator& random) {
  description host = examples::host_of(256);
  for (std::size_t j = 0; j < 1024; ++j) {
    const std::size_t first = examples::draw(random, 0, nodes - 1) * 256 / nodes;
    const std::string where =
        nodes == 1 ? "" : std::to_string(first) + "-" + std::to_string(first + 256 / nodes - 1);
    vm& one = examples::add_vm(host, "v" + std::to_string(j), {where, where, where, where},
                               static_cast<double>(128U << examples::draw(random, 0, 2)), owner);
    if (j % 3 == 0)
      for (vcpu& each : one.vcpus) each.demand = 0.02;
  }
  return host;
}

TEST(potential, of_all_vms_needs_no_other_solution_without_overlapping_affinities) {
  examples::generator random(13);
  for (const std::size_t nodes : {1U, 4U})
    for (const weight_owner owner : {weight_owner::vm, weight_owner::vcpu}) {
      SCOPED_TRACE(nodes);
      const estimator exact(large_host(nodes, owner, random));
      for (std::size_t j = 0; j < 1024; ++j) {
        EXPECT_GE(exact.counts(j).fit, 1U);
        EXPECT_GE(exact.potential(j).usable, exact.usable(j) - 1e-9);
      }
      EXPECT_EQ(exact.solved_again(), 0U);
    }
}

TEST(potential, of_a_vm_needs_one_other_solution_with_overlapping_affinities) {
  examples::generator random(15);
  description host = examples::host_of(32);
  for (std::size_t j = 0; j < 60; ++j) {
    const std::size_t first = examples::draw(random, 0, 24);
    const std::string where = std::to_string(first) + "-" + std::to_string(first + 7);
    vm& one = examples::add_vm(host, "v" + std::to_string(j), {where, where, where, where},
                               static_cast<double>(128U << examples::draw(random, 0, 2)), weight_owner::vm);
    for (vcpu& each : one.vcpus) each.demand = static_cast<double>(examples::draw(random, 1, 40)) / 100;
  }
  const estimator exact(host);
  std::size_t fewer = 0;
  for (std::size_t j = 0; j < host.vms.size(); ++j) {
    const std::size_t before = exact.solved_again();
    const vm_potential found = exact.potential(j);
    EXPECT_LE(exact.solved_again() - before, 1U);
    EXPECT_EQ(found.counts.fit, estimator(with_greedy(host, j, true)).counts(j).fit);
    fewer += found.counts.fit < 4 ? 1 : 0;
  }
  EXPECT_GT(fewer, 0U) << "the counts need no search";
}

TEST(potential, of_a_host_without_changes_is_computed_once) {
  examples::generator random(14);
  // Overlapping affinities: answers need other solutions.
  const examples::shape like{.pcpus = 16, .vcpus = 60, .where = examples::affinity::range, .bounds = true};
  estimator exact(examples::random_host(like, random));
  const auto ask_all = [&] {
    for (std::size_t j = 0; j < exact.given().vms.size(); ++j) (void)exact.potential(j);
    return exact.solved_again();
  };
  const std::size_t once = ask_all();
  ASSERT_GT(once, 0U);
  EXPECT_EQ(ask_all(), once);
  // Unchanged wishes change nothing.
  std::vector<vm_wishes> same;
  for (std::size_t j = 0; j < exact.given().vms.size(); ++j) {
    vm_wishes& one = same.emplace_back();
    one.vm = j;
    for (const vcpu& each : exact.given().vms[j].vcpus) one.vcpus.push_back({each.online, each.demand});
  }
  exact.change(same);
  exact.change(std::vector<vm_wishes>());
  EXPECT_EQ(ask_all(), once);
  // Another wish is one, also if the bound stays the same: the potential looks at what is online.
  same[0].vcpus[0] = {.online = !same[0].vcpus[0].online, .demand = 0};
  exact.change(same);
  EXPECT_NEAR(exact.potential(0).usable, estimator(exact.given()).potential(0).usable, 1e-9);
  EXPECT_GT(ask_all(), once);
}

}  // namespace
}  // namespace sukima::host
