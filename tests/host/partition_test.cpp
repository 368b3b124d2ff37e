// SPDX-License-Identifier: Apache-2.0
// The paper's partition and the formula, beside exact shares.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "random_hosts.hpp"

namespace sukima::host {
namespace {

std::vector<double> shares_by(const description& host, estimate_method method) {
  std::vector<double> all;
  for (const vm_estimate& one : estimate_shares(host, {.method = method}))
    all.insert(all.end(), one.vcpus.begin(), one.vcpus.end());
  return all;
}

TEST(partition, of_figure_14_is_right) {
  for (const double share : shares_by(examples::figure_14(), estimate_method::partition))
    EXPECT_NEAR(share, 0.8, 1e-12);
}

TEST(formula, of_figure_14_is_right) {
  const std::vector<vm_estimate> result =
      estimate_shares(examples::figure_14(), {.method = estimate_method::formula});
  EXPECT_NEAR(result[0].usable, 1.6, 1e-12);
  EXPECT_NEAR(result[1].usable, 2.4, 1e-12);
  const std::vector<vm_estimate> by_vm = estimate_shares(
      examples::figure_14(), {.method = estimate_method::formula, .weight_of = weight_owner::vm});
  EXPECT_NEAR(by_vm[0].usable, 2, 1e-12);
  EXPECT_NEAR(by_vm[1].usable, 2, 1e-12);
}

TEST(formula, is_at_most_the_vcpus_and_the_cap) {
  description host = examples::host_of(4);
  examples::add_vm(host, "a", {""}, 65535);
  examples::add_vm(host, "b", {"", "", ""}, 1).cap = 0.0001;
  examples::add_vm(host, "c", {""}, 65535).vcpus[0].online = false;
  const std::vector<vm_estimate> result = estimate_shares(host, {.method = estimate_method::formula});
  EXPECT_NEAR(result[0].usable, 1, 1e-12);
  EXPECT_NEAR(result[1].usable, 0.0001, 1e-12);
  EXPECT_EQ(result[2].usable, 0);
}

TEST(partition, promises_two_thirds_where_the_truth_is_a_half) {
  const description host = examples::counterexample();
  for (const double share : shares_by(host, estimate_method::partition)) EXPECT_NEAR(share, 2.0 / 3, 1e-12);
  EXPECT_NEAR(shares_by(host, estimate_method::exact)[0], 0.5, 1e-12);
}

TEST(partition, follows_weights_within_a_group) {
  description host = examples::host_of(1);
  examples::add_vm(host, "a", {"", ""}, 512, weight_owner::vm);
  examples::add_vm(host, "b", {""}, 256, weight_owner::vcpu);
  const std::vector<double> shares = shares_by(host, estimate_method::partition);
  EXPECT_NEAR(shares[0], 1.0 / 3, 1e-12);
  EXPECT_NEAR(shares[2], 1.0 / 3, 1e-12);
  host.vms[0].cap = 0.5;
  EXPECT_NEAR(shares_by(host, estimate_method::partition)[1], 0.25, 1e-12);
}

TEST(partition, keeps_groups_apart_that_do_not_help_each_other) {
  description host = examples::host_of(3);
  examples::add_vm(host, "a", {"0", "0", "0-1"});
  examples::add_vm(host, "b", {"1-2"});
  const std::vector<double> shares = shares_by(host, estimate_method::partition);
  EXPECT_NEAR(shares[0], 0.5, 1e-12);
  EXPECT_NEAR(shares[2], 1, 1e-12);
  EXPECT_NEAR(shares[3], 1, 1e-12);
}

struct errors {
  int graphs = 0, wrong = 0, too_high = 0;
  double worst = 1;
};

/// Random graphs of 2–5 pCPUs and 2–8 vCPUs, each with 1–3 pCPUs: how often is the method wrong, how often
/// too high for a VM, and by what factor at most?
errors errors_of(estimate_method method, int graphs) {
  examples::generator random(6);
  errors result;
  for (; result.graphs < graphs; ++result.graphs) {
    description host = examples::host_of(examples::draw(random, 2, 5));
    for (std::size_t left = examples::draw(random, 2, 8); left > 0; --left) {
      std::string list;
      for (std::size_t k = examples::draw(random, 1, 3); k > 0; --k)
        list += (list.empty() ? "" : ",") + std::to_string(examples::draw(random, 0, host.pcpus.size() - 1));
      examples::add_vm(host, std::to_string(left), {list});
    }
    const std::vector<double> exact = shares_by(host, estimate_method::exact),
                              other = shares_by(host, method);
    bool wrong = false, high = false;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      wrong = wrong || std::abs(other[i] - exact[i]) > 1e-9;
      high = high || other[i] > exact[i] + 1e-9;
      result.worst = std::max(result.worst, other[i] / exact[i]);
    }
    result.wrong += wrong ? 1 : 0;
    result.too_high += high ? 1 : 0;
  }
  return result;
}

// The table of docs/host-reference.md.
TEST(partition, is_wrong_in_few_random_graphs_and_then_too_high_for_one_machine) {
  const errors partition = errors_of(estimate_method::partition, 2000);
  const errors formula = errors_of(estimate_method::formula, 2000);
  for (const auto& [name, seen] : {std::pair{"partition", partition}, std::pair{"formula", formula}})
    std::printf("%-9s of %d graphs: wrong in %d, too high for a VM in %d, at most %.2f times\n", name,
                seen.graphs, seen.wrong, seen.too_high, seen.worst);
  EXPECT_EQ(partition.wrong, partition.too_high);
  EXPECT_EQ(partition.wrong, 17);
  EXPECT_NEAR(partition.worst, 4.0 / 3, 0.005);
  EXPECT_EQ(formula.wrong, 862);
}

}  // namespace
}  // namespace sukima::host
