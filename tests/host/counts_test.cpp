// SPDX-License-Identifier: Apache-2.0
// How many vCPUs a VM should have.
#include <gtest/gtest.h>

#include <cmath>

#include "random_hosts.hpp"

namespace sukima::host {
namespace {

using examples::add_vm;

/// The same VM with its first n vCPUs online.
vm with_online(vm one, std::size_t n) {
  for (std::size_t i = 0; i < one.vcpus.size(); ++i) one.vcpus[i].online = i < n;
  return one;
}

TEST(counts, of_figure_14) {
  const estimator exact(examples::figure_14());
  EXPECT_EQ(exact.counts(0).ceil, 2u);
  EXPECT_EQ(exact.counts(0).fit, 2u);
  EXPECT_EQ(exact.counts(1).ceil, 3u);
  EXPECT_EQ(exact.counts(1).fit, 2u);  // usable(3) is 2.4, below 2.5
}

TEST(counts, of_a_vm_that_has_shrunk_are_those_of_the_whole_vm) {
  description host = examples::figure_14();
  const vcpu_counts whole = estimator(host).counts(1);
  host.vms[1] = with_online(host.vms[1], 1);
  const estimator shrunk(host);
  EXPECT_NEAR(shrunk.usable(1), 1, 1e-9);
  EXPECT_EQ(shrunk.counts(1).ceil, whole.ceil);
  EXPECT_EQ(shrunk.counts(1).fit, whole.fit);
}

TEST(counts, are_at_least_one) {
  description host = examples::host_of(1);
  add_vm(host, "a", {"", ""}, 1);
  add_vm(host, "b", {""}, 65535);
  EXPECT_EQ(estimator(host).counts(0).ceil, 1u);
  EXPECT_EQ(estimator(host).counts(0).fit, 1u);
}

TEST(counts, are_as_defined_on_random_hosts) {
  examples::generator random(5);
  for (int k = 0; k < 60; ++k) {
    SCOPED_TRACE(k);
    const examples::shape like = examples::random_shape(12, 40, random);
    const estimator exact(examples::random_host(like, random));
    const std::size_t j = examples::draw(random, 0, exact.given().vms.size() - 1);
    const vm& one = exact.given().vms[j];
    std::size_t fit = 0;
    double before = 0;
    for (std::size_t n = 1; n <= one.vcpus.size(); ++n) {
      description other = exact.given();
      other.vms[j] = with_online(one, n);
      const double usable = estimator(other).usable(j);
      ASSERT_NEAR(exact.usable_with(j, n), usable, 1e-7) << n;
      ASSERT_LE(usable, before + 1 + 1e-9) << "bisection needs this, n = " << n;
      before = usable;
      if (usable >= static_cast<double>(n) - 0.5 - 1e-9) fit = n;
    }
    const vcpu_counts counts = exact.counts(j);
    EXPECT_EQ(counts.fit, std::max<std::size_t>(1, fit));
    EXPECT_EQ(counts.ceil, std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(before - 1e-7))));
  }
}

}  // namespace
}  // namespace sukima::host
