// SPDX-License-Identifier: Apache-2.0
// What a VM got, beside what it is entitled to.
#include <gtest/gtest.h>

#include <host/shared/explanation.hpp>

#include "random_hosts.hpp"

namespace sukima::host {
namespace {

/// A VM of one vCPU beside another of the same weight on one pCPU.
description two_on_one(double ran, double waited) {
  description host = examples::host_of(1);
  examples::add_vm(host, "a", {""}).vcpus[0] = {
      .id = 0, .hard = {}, .soft = {}, .cap = {}, .demand = {}, .ran = ran, .waited = waited, .unknown = {}};
  examples::add_vm(host, "b", {""});
  return host;
}

bool says(const explanation& explanation, const std::string& part) {
  for (const std::string& reason : explanation.reasons)
    if (reason.find(part) != std::string::npos) return true;
  return false;
}

TEST(explanation, of_a_vm_that_gets_its_share) {
  const explanation explanation = explain(two_on_one(50, 51), 0);
  EXPECT_NEAR(explanation.entitled.usable, 0.5, 1e-12);
  EXPECT_NEAR(explanation.got, 50.0 / 101, 1e-12);
  EXPECT_NEAR(explanation.waited_by_ran, 1.02, 1e-12);
  EXPECT_TRUE(says(explanation, "It gets what it is entitled to"));
  EXPECT_TRUE(says(explanation, "by weight"));
}

TEST(explanation, of_a_vm_that_got_less) {
  EXPECT_TRUE(says(explain(two_on_one(30, 70), 0), "Others received a part of its share"));
  EXPECT_FALSE(says(explain(two_on_one(30, 70), 0), "Its cap"));
  description capped = two_on_one(30, 70);
  capped.vms[0].cap = 0.4;
  EXPECT_TRUE(says(explain(capped, 0), "Its cap throttles it"));
  EXPECT_TRUE(says(explain(capped, 0), "Its cap limits it to 0.40 CPUs"));
}

TEST(explanation, of_a_vm_without_online_vcpus) {
  description off = two_on_one(50, 51);
  off.vms[0].vcpus[0].online = false;
  EXPECT_TRUE(says(explain(off, 0), "None of its vCPUs is online"));
  EXPECT_FALSE(says(explain(off, 0), "a whole CPU"));
}

TEST(explanation, of_a_vm_that_got_more) {
  EXPECT_TRUE(says(explain(two_on_one(80, 20), 0), "others left some"));
  EXPECT_TRUE(says(explain(two_on_one(80, 20), 0), "Compare with an earlier description"));
}

TEST(explanation, of_an_interval) {
  description before = two_on_one(10, 5), now = two_on_one(12, 5.02);
  before.taken = 100;
  now.taken = 110;
  const explanation explanation = explain(now, 0, {}, &before);
  EXPECT_EQ(explanation.seconds, 10);
  EXPECT_NEAR(explanation.got, 0.2, 1e-12);
  EXPECT_TRUE(says(explanation, "wanted no more"));
  EXPECT_FALSE(says(explanation, "Compare"));
}

TEST(explanation, of_an_idle_vm_that_wakes_up_late_blames_no_machine) {
  description before = two_on_one(10, 5), now = two_on_one(10.02, 5.009);  // 0.9 ms a second, 45 %
  before.taken = 100;
  now.taken = 110;
  now.vms[0].vcpus[0].demand = 0.05;
  const explanation explanation = explain(now, 0, {}, &before);
  EXPECT_TRUE(says(explanation, "wanted no more: it waited for 0.90 ms a second"));
  EXPECT_FALSE(says(explanation, "Others got CPU"));
  EXPECT_FALSE(says(explanation, "the host itself"));
}

TEST(explanation, of_an_interval_finds_the_machine_by_its_id) {
  description before = two_on_one(10, 5), now = two_on_one(12, 5.02);
  before.taken = 100;
  now.taken = 110;
  before.vms[0].id = now.vms[0].id = "id-1";
  before.vms[0].name = "former";
  EXPECT_NEAR(explain(now, 0, {}, &before).got, 0.2, 1e-12);
}

TEST(explanation, of_an_interval_counts_a_vcpu_that_was_off_from_zero) {
  description before = two_on_one(10, 5), now = two_on_one(3, 1);
  before.taken = 100;
  now.taken = 110;
  before.vms[0].vcpus[0] = {};
  before.vms[0].vcpus[0].online = false;
  EXPECT_NEAR(explain(now, 0, {}, &before).got, 0.3, 1e-12);
}

std::string refusal_of(const description& host, const description* since = nullptr) {
  try {
    explain(host, 0, {}, since);
  } catch (const description_error& error) {
    return error.what();
  }
  return "";
}

TEST(explanation, needs_counters) {
  description host = two_on_one(1, 1);
  host.vms[0].vcpus[0].waited.reset();
  EXPECT_EQ(refusal_of(host), "vms[0].vcpus[0].waited: is missing; an explanation needs the counters");
  host.vms[0].vcpus[0].online = false;
  EXPECT_EQ(refusal_of(host), "");
  description before = two_on_one(1, 1), now = two_on_one(0.5, 1);
  EXPECT_EQ(refusal_of(now, &before), "taken: is missing; both descriptions need it");
  before.taken = now.taken = 5;
  EXPECT_EQ(refusal_of(now, &before), "taken: the earlier description is not earlier");
  now.taken = 6;
  EXPECT_EQ(refusal_of(now, &before),
            "vms[0].vcpus[0]: its counters went backwards; use two descriptions of the same run");
  before.vms[0].vcpus[0].ran.reset();
  EXPECT_EQ(refusal_of(now, &before),
            "in the earlier description, vms[0].vcpus[0].ran: is missing; an explanation needs the counters");
  before.vms[0].name = "other";
  EXPECT_EQ(refusal_of(now, &before),
            "vms: the earlier description has no machine 'a'; use two descriptions of the same run");
}

}  // namespace
}  // namespace sukima::host
