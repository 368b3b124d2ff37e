// SPDX-License-Identifier: Apache-2.0
// Tests of the laboratory's hypervisor with the rule of Linux since 6.6.
#include "hypervisor.hpp"
#include "passing_time.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

using namespace sukima::simulation;

scheduling linux_rule() {
  scheduling how;
  how.rule = scheduling_rule::eevdf;
  how.slice = 1'400 * microsecond;
  how.tick = 4 * millisecond;
  return how;
}

/// Advances to the first demand that is met. \returns that event
hypervisor::event meet_next(hypervisor& all) {
  for (;;) {
    const hypervisor::event e = *all.next();
    all.happen(e);
    if (e.met) return e;
  }
}

/// Two guests of one vCPU each on one CPU. The first one is busy, and runs.
hypervisor two_on_one() {
  hypervisor all(1, linux_rule());
  all.add_guest({1});
  all.add_guest({1});
  all.demand(0, hypervisor::forever);
  all.demand(1, hypervisor::forever);
  all.wake(0, 0);
  run_until(all, 1);
  return all;
}

TEST(eevdf, divides_by_weight_and_ends_slices_at_ticks) {
  for (const unsigned weight : {1024u, 3072u}) {
    hypervisor all(1, linux_rule());
    all.add_guest({1, 1024});
    all.add_guest({1, weight});
    for (std::size_t v = 0; v < 2; ++v) {
      all.demand(v, hypervisor::forever);
      all.wake(v, 0);
    }
    run_until(all, 4 * second);
    EXPECT_NEAR(static_cast<double>(all.used(1)) / (4 * second), weight / (1024.0 + weight), 0.01);
    EXPECT_LE(all.switching(), 1'001 * linux_rule().vcpu_switch);
  }
}

TEST(eevdf, lets_a_virtual_cpu_that_wakes_preempt_one_that_has_just_begun) {
  hypervisor all = two_on_one();
  all.demand(1, 10 * microsecond);
  all.wake(1, millisecond);  // a new vCPU is not ahead: it waits for the first tick
  std::uint64_t at = meet_next(all).at;
  EXPECT_GE(at, 4 * millisecond);
  for (const std::uint64_t later : {20 * microsecond, 100 * microsecond, 5 * millisecond}) {
    all.halt(1);
    at += later;
    run_until(all, at);
    all.demand(1, 10 * microsecond);
    all.wake(1, at);
    const hypervisor::event e = meet_next(all);
    EXPECT_EQ(e.met, 1u);
    EXPECT_LT(e.at, at + 20 * microsecond);
    at = e.at;
  }
}

TEST(eevdf, makes_one_that_ran_longer_than_the_other_wait) {
  hypervisor all = two_on_one();
  all.demand(1, 3'800 * microsecond);
  all.wake(1, 500 * microsecond);
  const std::uint64_t at = meet_next(all).at;
  EXPECT_LT(at, 8 * millisecond);
  all.halt(1);  // ahead of the mean, so it stays in the queue
  all.demand(1, 10 * microsecond);
  all.wake(1, at + 10 * microsecond);
  EXPECT_GE(meet_next(all).at, 8 * millisecond);
}

TEST(eevdf, does_not_let_one_save_time_by_sleeping) {
  hypervisor all = two_on_one();
  run_until(all, second);
  all.wake(1, second);
  run_until(all, second + 400 * millisecond);
  // It gets half of the time, and at most a tick more.
  EXPECT_NEAR(static_cast<double>(all.used(1)), 200.0 * millisecond, 5.0 * millisecond);
}

TEST(eevdf, shares_cpus_among_those_that_may_run_on_all) {
  hypervisor all(2, linux_rule());
  all.add_guest({3});
  all.add_guest({1});
  for (std::size_t v = 0; v < 4; ++v) {
    all.demand(v, hypervisor::forever);
    all.wake(v, 0);
  }
  run_until(all, second);
  EXPECT_NEAR(static_cast<double>(all.used(0)) / second, 1.5, 0.03);
  EXPECT_NEAR(static_cast<double>(all.used(1)) / second, 0.5, 0.03);
}

}  // namespace
