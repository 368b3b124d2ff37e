// SPDX-License-Identifier: Apache-2.0
// Tests of quotas as Linux accounts them.
#include "barrier_program.hpp"
#include "passing_time.hpp"

#include <gtest/gtest.h>

#include <set>

namespace {

using namespace sukima::simulation;

/// Two pCPUs, and a quota of 10 ms in each 10 ms.
bandwidth half_of_two() { return {{10 * millisecond, 10 * millisecond, 5 * millisecond}, 2}; }

TEST(bandwidth, gives_the_first_one_what_it_owes_as_well) {
  bandwidth b = half_of_two();
  EXPECT_TRUE(b.charge(0, 0));
  EXPECT_TRUE(b.charge(1, 0));
  // Both pools had a slice, so the quota is used up. Both pCPUs have used more than that by the next tick.
  EXPECT_FALSE(b.charge(0, 8 * millisecond));
  EXPECT_FALSE(b.charge(1, 8 * millisecond));
  EXPECT_EQ(b.usable_at(0, 8 * millisecond), 10 * millisecond);
  b.advance(10 * millisecond);
  EXPECT_FALSE(b.is_throttled(0));
  EXPECT_FALSE(b.is_throttled(1));
  EXPECT_EQ(b.left(0), 1u);
  // 4 ms of the period are left. The first pCPU that checks takes all of it.
  EXPECT_TRUE(b.charge(1, 2 * millisecond));
  EXPECT_EQ(b.left(1), 2 * millisecond - 1);
  EXPECT_FALSE(b.charge(0, 2 * millisecond));
}

TEST(bandwidth, keeps_a_cpu_throttled_that_owes_more_than_a_period_has) {
  bandwidth b({2 * millisecond, 10 * millisecond, 5 * millisecond}, 1);
  EXPECT_FALSE(b.charge(0, 5 * millisecond));
  b.advance(10 * millisecond);
  EXPECT_TRUE(b.is_throttled(0));
  b.advance(20 * millisecond);
  EXPECT_FALSE(b.is_throttled(0));
  EXPECT_EQ(b.usable_at(0, 13 * millisecond), 20 * millisecond);
}

TEST(bandwidth, takes_back_what_an_idle_cpu_has_beyond_a_millisecond) {
  bandwidth b = half_of_two();
  EXPECT_TRUE(b.charge(0, 0));
  b.goes_idle(0);
  EXPECT_EQ(b.left(0), millisecond);
  EXPECT_TRUE(b.charge(1, 9 * millisecond - 1));
  EXPECT_FALSE(b.charge(1, millisecond));
}

TEST(bandwidth, begins_periods_at_its_phase) {
  bandwidth b({millisecond, 10 * millisecond, 5 * millisecond, 3 * millisecond}, 1);
  EXPECT_FALSE(b.charge(0, millisecond));
  EXPECT_EQ(b.usable_at(0, 0), 3 * millisecond);
}

TEST(bandwidth, has_runs_with_evenly_spaced_phases) {
  // Periods of 10 ms and ticks of 4 ms have their positions relative to each other again after 2 ms.
  std::set<std::uint64_t> places;
  for (unsigned run = 0; run < 7; ++run) places.insert(phase_of_run(run, 7, 70) % 14);
  EXPECT_EQ(places, (std::set<std::uint64_t>{1, 3, 5, 7, 9, 11, 13}));
}

/// Returns the fraction of the CPUs' time that a guest with two busy vCPUs gets.
double used(std::uint64_t quota, std::uint64_t phase) {
  scheduling how;
  how.tick = 4 * millisecond;
  how.slice = 1'400'000;
  how.period = 10 * millisecond;
  how.bandwidth_slice = 5 * millisecond;
  hypervisor all(2, how);
  guest_shape shape{2, 1024, quota};
  shape.pinned = true;
  shape.phase = phase;
  all.add_guest(shape);
  for (std::size_t v = 0; v < 2; ++v) {
    all.demand(v, hypervisor::forever);
    all.wake(v, 0);
  }
  constexpr std::uint64_t time = 1'000 * millisecond;
  for (auto e = all.next(); e && e->at < time; e = all.next()) all.happen(*e);
  return static_cast<double>(all.used(0)) / time;
}

TEST(bandwidth, gives_a_guest_its_quota_in_the_long_run) {
  for (const std::uint64_t phase : {0u, 700'000u, 1'300'000u, 3'000'000u})
    for (const std::uint64_t quota : {5u, 10u})
      EXPECT_NEAR(used(quota * millisecond, phase), static_cast<double>(quota) / 10, 0.02) << quota << phase;
}

TEST(bandwidth, lets_threads_that_wait_for_each_other_run_at_different_times) {
  // Half of two CPUs: the vCPUs run at the same time for a half to a third of the time that the quota would
  // allow.
  barrier_cell c;
  c.kernel = {"small", 800 * millisecond, 500, 1'500};
  c.kernel.imbalance = 0;
  c.threads = 2;
  c.guest.vcpus = 2;
  c.guest.pinned = true;
  c.guest.quota = 10 * millisecond;
  c.serial = 0;
  c.policy = openmp_wait::active;
  c.setup.pcpus = 2;
  c.setup.hypervisor.slice = 1'400'000;
  c.setup.hypervisor.tick = 4 * millisecond;
  c.setup.hypervisor.period = 10 * millisecond;
  const double exact = simulate(c).time;
  c.setup.hypervisor.bandwidth_slice = 5 * millisecond;
  const double as_linux = simulate(c).time;
  EXPECT_GT(as_linux, 1.5 * exact);
  EXPECT_LT(as_linux, 3 * exact);
}

}  // namespace
