// SPDX-License-Identifier: Apache-2.0
// Tests of the laboratory's hypervisor: the CPU time that its guests get, by both rules.
#include "hypervisor.hpp"
#include "passing_time.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace {

using namespace sukima::simulation;

/// Returns a hypervisor with guests that are always busy, after that time.
hypervisor busy_guests(unsigned pcpus, const std::vector<guest_shape>& shapes, std::uint64_t time,
                       const scheduling& how = {}) {
  hypervisor all(pcpus, how);
  std::size_t vcpu = 0;
  for (const guest_shape& shape : shapes) {
    all.add_guest(shape);
    for (unsigned i = 0; i < shape.vcpus; ++i, ++vcpu) {
      all.demand(vcpu, hypervisor::forever);
      all.wake(vcpu, 0);
    }
  }
  for (auto e = all.next(); e && e->at < time; e = all.next()) all.happen(*e);
  return all;
}

/// Returns the fraction of a CPU that a guest got.
double share(const hypervisor& all, std::size_t guest, std::uint64_t time) {
  return static_cast<double>(all.used(guest)) / static_cast<double>(time);
}

TEST(hypervisor, shares_a_cpu_evenly) {
  for (const unsigned guests : {1u, 2u, 4u, 8u}) {
    const hypervisor all = busy_guests(1, std::vector<guest_shape>(guests), second);
    std::uint64_t sum = all.switching();
    for (unsigned g = 0; g < guests; ++g) {
      EXPECT_NEAR(share(all, g, second), 1.0 / guests, 0.005) << guests;
      sum += all.used(g);
    }
    EXPECT_LE(sum, second);
    EXPECT_GT(sum, second - 5 * millisecond);
  }
}

TEST(hypervisor, shares_cpus_among_more_virtual_ones) {
  const hypervisor all = busy_guests(2, {{3}, {1}}, second);
  EXPECT_NEAR(share(all, 0, second), 1.5, 0.02);
  EXPECT_NEAR(share(all, 1, second), 0.5, 0.02);
}

TEST(hypervisor, gives_by_weight) {
  const hypervisor all = busy_guests(1, {{1, 1024}, {1, 3072}}, second);
  EXPECT_NEAR(share(all, 0, second), 0.25, 0.01);
  EXPECT_NEAR(share(all, 1, second), 0.75, 0.01);
}

TEST(hypervisor, gives_what_a_quota_allows_and_no_more) {
  const guest_shape limited{2, 1024, 30 * millisecond};
  const hypervisor all = busy_guests(2, {limited, {2}}, second);
  EXPECT_EQ(all.most_in_a_period(0), 30 * millisecond);
  EXPECT_NEAR(share(all, 0, second), 0.3, 0.01);
  EXPECT_NEAR(share(all, 1, second), 1.7, 0.01);
}

TEST(hypervisor, lets_a_virtual_cpu_that_wakes_preempt) {
  hypervisor all = busy_guests(1, {{1}, {1}}, second);
  const std::size_t woken = all.first_vcpu(all.add_guest({1}));
  all.demand(woken, microsecond);
  all.wake(woken, second);
  auto e = all.next();
  while (!e->met) {
    all.happen(*e);
    e = all.next();
  }
  EXPECT_EQ(e->met, woken);
  EXPECT_LT(e->at, second + 20 * microsecond);
}

/// Advances to the first demand that is met. \returns that event
hypervisor::event first_met(hypervisor& all) {
  auto e = all.next();
  while (!e->met) {
    all.happen(*e);
    e = all.next();
  }
  return *e;
}

TEST(hypervisor, takes_time_to_leave_idleness) {
  scheduling how;
  how.idle_exit = 17 * microsecond;
  hypervisor all(1, how);
  const std::size_t vcpu = all.first_vcpu(all.add_guest({1}));
  for (const std::uint64_t at : {millisecond, 2 * millisecond}) {
    all.demand(vcpu, microsecond);
    all.wake(vcpu, at);
    const hypervisor::event e = first_met(all);
    all.happen(e);
    const std::uint64_t switched = at == millisecond ? how.vcpu_switch : 0;
    EXPECT_EQ(e.at, at + how.idle_exit + switched + microsecond);
    all.halt(vcpu);
  }
}

TEST(affinity, keeps_virtual_cpus_where_they_may_run) {
  // Three busy guests: two share the first CPU, and the third has the other two for its four vCPUs.
  const hypervisor all = busy_guests(3, {{1, 1024, 0, 0, 1}, {1, 1024, 0, 0, 1}, {4, 1024, 0, 1, 2}}, second);
  EXPECT_NEAR(share(all, 0, second), 0.5, 0.01);
  EXPECT_NEAR(share(all, 1, second), 0.5, 0.01);
  EXPECT_NEAR(share(all, 2, second), 2, 0.01);
}

TEST(affinity, pins_virtual_cpus_in_turn) {
  // Of three vCPUs on two CPUs, the first and the third one share the second CPU.
  guest_shape shape{3};
  shape.pinned = true;
  shape.shift = 1;
  hypervisor all(2, {});
  all.add_guest(shape);
  const std::uint64_t amount = 100 * millisecond;
  for (std::size_t v = 0; v < 3; ++v) {
    all.demand(v, amount);
    all.wake(v, 0);
  }
  const hypervisor::event e = first_met(all);
  EXPECT_EQ(e.met, 1u);
  EXPECT_EQ(e.pcpu, 0u);
  EXPECT_LT(e.at, amount + millisecond);
}

TEST(credit2, gives_by_weight) {
  for (const unsigned weight : {512u, 1024u, 3072u}) {
    const hypervisor all = busy_guests(1, {{1, 1024}, {1, weight}}, 4 * second, credit2_scheduling());
    EXPECT_NEAR(share(all, 1, 4 * second), weight / (1024.0 + weight), 0.02) << weight;
  }
}

TEST(credit2, shares_cpus_among_more_virtual_ones) {
  const hypervisor all = busy_guests(2, {{3}, {1}}, 4 * second, credit2_scheduling());
  EXPECT_NEAR(share(all, 0, 4 * second), 1.5, 0.03);
  EXPECT_NEAR(share(all, 1, 4 * second), 0.5, 0.03);
}

TEST(credit2, caps_a_guest) {
  // The cap is 0.3 CPUs: 3 ms in each 10 ms.
  const hypervisor all = busy_guests(2, {{2, 1024, 3 * millisecond}, {2}}, second, credit2_scheduling());
  EXPECT_EQ(all.most_in_a_period(0), 3 * millisecond);
  EXPECT_NEAR(share(all, 0, second), 0.3, 0.01);
  EXPECT_NEAR(share(all, 1, second), 1.7, 0.03);
}

TEST(credit2, keeps_virtual_cpus_where_they_may_run) {
  const hypervisor all = busy_guests(2, {{1, 1024, 0, 0, 1}, {1, 3072, 0, 0, 1}, {1, 1024, 0, 1, 1}},
                                     4 * second, credit2_scheduling());
  EXPECT_NEAR(share(all, 0, 4 * second), 0.25, 0.02);
  EXPECT_NEAR(share(all, 1, 4 * second), 0.75, 0.02);
  EXPECT_NEAR(share(all, 2, 4 * second), 1, 0.01);
}

/// Returns after how long a waking vCPU preempts a busy one that has had the CPU for `ran`.
std::uint64_t preempts_after(std::uint64_t ran, const scheduling& how) {
  hypervisor all = busy_guests(1, {{1}}, ran, how);
  const std::size_t woken = all.first_vcpu(all.add_guest({1}));
  all.demand(woken, microsecond);
  all.wake(woken, ran);
  return first_met(all).at - ran;
}

TEST(credit2, limits_the_rate_of_switches) {
  const scheduling how = credit2_scheduling();
  EXPECT_LT(preempts_after(5 * millisecond, how), 10 * microsecond);
  // The running vCPU has had the CPU for less than the limit, so the other one waits for the end of its
  // slice.
  const std::uint64_t waits = preempts_after(500 * microsecond, how);
  EXPECT_GT(waits, 400 * microsecond);
  EXPECT_LT(waits, 12 * millisecond);
}

TEST(credit2, renews_credit_of_sleepers_once) {
  // A vCPU that has slept for a second is ahead by at most one portion of credit.
  hypervisor all = busy_guests(1, {{1}}, second, credit2_scheduling());
  const std::size_t guest = all.add_guest({1});
  all.demand(all.first_vcpu(guest), hypervisor::forever);
  all.wake(all.first_vcpu(guest), second);
  for (auto e = all.next(); e && e->at < second + 200 * millisecond; e = all.next()) all.happen(*e);
  EXPECT_NEAR(static_cast<double>(all.used(guest)), 100.0 * millisecond, 11.0 * millisecond);
}

TEST(fair, ends_slices_at_ticks) {
  scheduling how;
  how.slice = 1'400 * microsecond;
  how.tick = 4 * millisecond;
  const hypervisor all = busy_guests(1, {{1}, {1}}, 40 * millisecond + 1, how);
  // Ten slices of a tick each, and nine or ten switches.
  EXPECT_NEAR(share(all, 0, 40 * millisecond), 0.5, 0.001);
  EXPECT_LE(all.switching(), 11 * how.vcpu_switch);
}

}  // namespace
