// SPDX-License-Identifier: Apache-2.0
// Exact shares: known cases, and random ones against their certificate and an enumeration.
#include <gtest/gtest.h>

#include <set>

#include "enumeration.hpp"
#include "estimate/certificate.hpp"
#include "estimate/translation.hpp"
#include "random_hosts.hpp"

namespace sukima::host {
namespace {

using examples::add_vm;
using examples::host_of;

std::vector<double> usable_of(const description& host, const estimate_options& how = {}) {
  std::vector<double> result;
  for (const vm_estimate& one : estimate_shares(host, how)) result.push_back(one.usable);
  return result;
}

void expect_usable(const description& host, const std::vector<double>& expected) {
  const estimator exact(host);
  EXPECT_EQ(exact.defect(), "");
  ASSERT_EQ(host.vms.size(), expected.size());
  for (std::size_t j = 0; j < expected.size(); ++j)
    EXPECT_NEAR(exact.usable(j), expected[j], 1e-9) << "VM " << j;
}

TEST(shares, of_figure_14_are_four_fifths) {
  const std::vector<vm_estimate> result = estimate_shares(examples::figure_14());
  for (const vm_estimate& one : result)
    for (const double share : one.vcpus) EXPECT_NEAR(share, 0.8, 1e-12);
  EXPECT_NEAR(result[0].usable, 1.6, 1e-12);
  EXPECT_EQ(result[0].limit, share_limit::others);
}

TEST(shares, where_the_partition_is_wrong) {
  expect_usable(examples::counterexample(), {0.5, 0.75, 0.75, 0.75, 0.75, 0.5});
}

TEST(shares, a_vcpu_gets_at_most_a_pcpu) {
  description host = host_of(4);
  add_vm(host, "a", {"", ""});
  add_vm(host, "b", {"2"});
  expect_usable(host, {2, 1});
  EXPECT_EQ(estimate_shares(host)[0].limit, share_limit::vcpus);
}

TEST(shares, more_vcpus_than_pcpus) {
  description host = host_of(2);
  add_vm(host, "a", {"", "", "", ""});
  add_vm(host, "b", {"", ""});
  expect_usable(host, {4.0 / 3, 2.0 / 3});
}

TEST(shares, an_offline_vcpu_gets_nothing) {
  description host = host_of(1);
  add_vm(host, "a", {"", ""}).vcpus[0].online = false;
  add_vm(host, "b", {""});
  expect_usable(host, {0.5, 0.5});
}

TEST(shares, follow_weights) {
  description host = host_of(1);
  add_vm(host, "a", {""}, 512);
  add_vm(host, "b", {""}, 256);
  expect_usable(host, {2.0 / 3, 1.0 / 3});
}

// Measured with Xen 4.17, credit2: guests of 2 and 4 vCPUs on 2 pCPUs.
TEST(shares, a_weight_of_each_vcpu_is_not_that_of_the_vm) {
  for (const weight_owner owner : {weight_owner::vcpu, weight_owner::vm}) {
    description host = host_of(2);
    add_vm(host, "a", {"", ""}, 256, owner);
    add_vm(host, "b", {"", "", "", ""}, 256, owner);
    if (owner == weight_owner::vcpu)
      expect_usable(host, {2.0 / 3, 4.0 / 3});
    else
      expect_usable(host, {1, 1});
    const weight_owner other = owner == weight_owner::vcpu ? weight_owner::vm : weight_owner::vcpu;
    EXPECT_NEAR(usable_of(host, {.weight_of = other})[0], owner == weight_owner::vcpu ? 1 : 2.0 / 3, 1e-9);
  }
}

TEST(shares, without_weight_one_gets_what_others_leave) {
  description host = host_of(2);
  add_vm(host, "a", {"0-1"}, 0);
  add_vm(host, "b", {"0"}, 65535).vcpus[0].demand = 0.25;
  add_vm(host, "c", {"0-1"}, 1);
  add_vm(host, "d", {"0-1"}, 0);
  expect_usable(host, {0.375, 0.25, 1, 0.375});
  host.vms[1].vcpus[0].demand.reset();
  expect_usable(host, {0, 1, 1, 0});
}

TEST(shares, of_weights_that_are_next_to_nothing) {
  for (const weight_owner owner : {weight_owner::vcpu, weight_owner::vm})
    for (const double weight : {1e-300, 1e-30, 1e-15, 1e-12, 1e-9, 1e-7, 1e-5}) {
      description host = host_of(1);
      add_vm(host, "a", {""}, weight, owner);
      add_vm(host, "b", {""}, most_weight, owner);
      expect_usable(host, {weight / most_weight, 1});
      host.vms[1].vcpus[0].demand = 0.25;
      expect_usable(host, {0.75, 0.25});
    }
}

TEST(shares, of_weights_far_apart) {
  description host = host_of(1);
  add_vm(host, "a", {""}, 65535);
  add_vm(host, "b", {""}, 1);
  expect_usable(host, {65535.0 / 65536, 1.0 / 65536});
}

TEST(shares, a_pcpu_may_have_less_than_one) {
  description host = host_of(2);
  host.pcpus[0].capacity = 0.5;
  add_vm(host, "a", {"0", "0"});
  add_vm(host, "b", {"0-1"});
  expect_usable(host, {0.5, 1});
  host.pcpus[1].capacity = 0;
  expect_usable(host, {1.0 / 3, 1.0 / 6});
}

TEST(shares, time_that_one_does_not_want_goes_to_others) {
  description host = host_of(1);
  add_vm(host, "a", {""}).vcpus[0].demand = 0.1;
  add_vm(host, "b", {""}).vcpus[0].cap = 0.2;
  add_vm(host, "c", {""});
  expect_usable(host, {0.1, 0.2, 0.7});
  const std::vector<vm_estimate> result = estimate_shares(host);
  EXPECT_EQ(result[0].limit, share_limit::demand);
  EXPECT_EQ(result[1].limit, share_limit::vcpu_caps);
  EXPECT_EQ(result[2].limit, share_limit::others);
}

TEST(shares, a_cap_of_a_vm_bounds_the_sum) {
  for (const weight_owner owner : {weight_owner::vcpu, weight_owner::vm}) {
    description host = host_of(2);
    add_vm(host, "a", {"", ""}, 256, owner).cap = 0.5;
    add_vm(host, "b", {"", ""}, 256, owner);
    expect_usable(host, {0.5, 1.5});
    EXPECT_EQ(estimate_shares(host)[0].limit, share_limit::cap);
  }
}

// b's vCPU on pCPU 0 gets more once a is capped, so b exceeds its cap, and only then d gets more.
TEST(shares, a_cap_may_make_another_vm_reach_its_own) {
  description host = host_of(2);
  add_vm(host, "a", {"0"}).cap = 0.2;
  add_vm(host, "b", {"0", "1"}).cap = 1.2;
  add_vm(host, "d", {"1"});
  expect_usable(host, {0.2, 1.2, 0.5});
  host.vms[1].cap = 0.9;
  expect_usable(host, {0.2, 0.9, 0.55});
}

TEST(shares, of_the_vcpus_of_a_vm_are_even_where_they_can_be) {
  description host = host_of(3);
  add_vm(host, "a", {"0", "0-1", "0-1"}, 256, weight_owner::vm);
  add_vm(host, "b", {"2"}, 256, weight_owner::vm);
  const std::vector<vm_estimate> result = estimate_shares(host);
  for (const double share : result[0].vcpus) EXPECT_NEAR(share, 2.0 / 3, 1e-9);
  EXPECT_NEAR(result[0].usable, 2, 1e-9);
}

/// The pCPUs that a VM's first vCPU runs on.
std::set<std::size_t> places_of(const estimator& exact, std::size_t vm) {
  std::set<std::size_t> places;
  for (const running_part& part : exact.running())
    if (part.vm == vm && part.vcpu == 0) places.insert(part.pcpu);
  return places;
}

TEST(shares, soft_affinity_only_breaks_ties) {
  description host = host_of(3);
  for (const std::uint32_t p : {2u, 0u, 1u}) add_vm(host, std::to_string(p), {""}).vcpus[0].soft = {p};
  const estimator free(host);
  for (std::size_t j = 0; j < 3; ++j)
    EXPECT_EQ(places_of(free, j), std::set<std::size_t>{host.vms[j].vcpus[0].soft[0]});
  // All prefer pCPU 0; each gets a whole one nevertheless.
  for (vm& one : host.vms) one.vcpus[0].soft = {0};
  expect_usable(host, {1, 1, 1});
  // What is preferred, but not allowed, does not count.
  host.vms[0].vcpus[0].hard = {1};
  host.vms[0].vcpus[0].soft = {0, 2};
  EXPECT_EQ(places_of(estimator(host), 0), std::set<std::size_t>{1});
}

TEST(shares, of_hosts_without_anything) {
  EXPECT_TRUE(estimate_shares(host_of(1)).empty());
  for (const weight_owner owner : {weight_owner::vcpu, weight_owner::vm}) {
    description host = host_of(1);
    add_vm(host, "a", {}, 256, owner);
    add_vm(host, "b", {""}, 256, owner);
    expect_usable(host, {0, 1});
    EXPECT_EQ(estimator(host).counts(0).fit, 1u);
  }
}

TEST(shares, must_know_whose_a_weight_is) {
  description host = examples::figure_14();
  host.vms[1].weight_of.reset();
  for (const estimate_method method :
       {estimate_method::exact, estimate_method::partition, estimate_method::formula})
    EXPECT_THROW(estimate_shares(host, {.method = method}), description_error);
  EXPECT_NEAR(usable_of(host, {.weight_of = weight_owner::vcpu})[1], 2.4, 1e-9);
}

TEST(shares, of_500_random_hosts_pass_their_certificate) {
  examples::generator random(1);
  for (int k = 0; k < 500; ++k) {
    const estimator exact(examples::random_host(examples::random_shape(12, 40, random), random));
    ASSERT_EQ(exact.defect(), "") << "case " << k << "\n" << description_text(exact.given());
  }
}

TEST(shares, of_100_random_hosts_are_those_of_an_enumeration) {
  examples::generator random(2);
  for (int k = 0; k < 100; ++k) {
    const description host = examples::random_host(examples::random_shape(4, 9, random), random);
    const std::vector<vm_estimate> found = estimate_shares(host);
    const auto exact = examples::enumerate(host);
    for (std::size_t j = 0; j < exact.size(); ++j) {
      const bool joint = host.vms[j].weight_of == weight_owner::vm;
      for (std::size_t i = 0; i < exact[j].size(); ++i)
        ASSERT_NEAR(joint ? found[j].usable : found[j].vcpus[i], exact[j][i].value(), 1e-8)
            << "case " << k << ", VM " << j << "\n"
            << description_text(host);
    }
  }
}

// The certificate is believed because it refuses: a solution is no longer right when its problem changes.
TEST(certificate, refuses_shares_of_another_problem) {
  const auto defect_after = [](auto change) {
    shares solution(translation(examples::figure_14(), {}).all);
    solution.solve();
    change(solution.change());
    return find_defect(solution);
  };
  EXPECT_EQ(defect_after([](problem&) {}), "");
  EXPECT_NE(defect_after([](problem& of) { of.claimants[0].weight *= 2; }), "");
  EXPECT_NE(defect_after([](problem& of) { of.vcpus[0].most = 0.5; }), "");
  EXPECT_NE(defect_after([](problem& of) { of.capacity[0] = 0.5; }), "");
  EXPECT_NE(defect_after([](problem& of) { of.caps[0].most = 1; }), "");
  EXPECT_NE(defect_after([](problem& of) { of.vcpus[2].may = of.vcpus[0].may; }), "");
  EXPECT_NE(defect_after([](problem& of) {
              for (std::size_t i = 1; i < 5; ++i) of.vcpus[i].most = 0.8;
              of.capacity[3] = 0.9;
              of.capacity[0] = 1;
            }),
            "");
}

}  // namespace
}  // namespace sukima::host
