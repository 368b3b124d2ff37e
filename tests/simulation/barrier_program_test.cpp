// SPDX-License-Identifier: Apache-2.0
// Tests of programs with the structure of OpenMP programs in the laboratory: they do all their work, and
// waiting has the expected cost.
#include "barrier_program.hpp"
#include "passing_time.hpp"

#include <gtest/gtest.h>

namespace {

using namespace sukima::simulation;

/// A program with that number of threads on as many pinned vCPUs. Each thread has 200 phases of 0.2 ms.
barrier_cell small_barrier_cell(unsigned threads, unsigned copies = 1) {
  barrier_cell c;
  c.kernel = {"small", 40 * millisecond * threads, 50, 150};
  c.kernel.imbalance = 0;
  c.threads = threads;
  c.copies = copies;
  c.guest.vcpus = threads;
  c.guest.pinned = true;
  c.serial = 0;
  c.setup.pcpus = threads;
  c.setup.hypervisor.slice = 1 * millisecond;
  c.setup.hypervisor.tick = 4 * millisecond;
  return c;
}

double milliseconds(const barrier_measurement& m) { return m.time * 1e-6; }

TEST(barrier_program, does_all_its_work_in_little_more_time) {
  for (const unsigned threads : {1u, 2u, 4u, 16u}) {
    const barrier_measurement m = simulate(small_barrier_cell(threads));
    EXPECT_NEAR(static_cast<double>(m.work), 40e6 * threads, 200.0 * threads) << threads;
    EXPECT_GE(milliseconds(m), 39.9) << threads;
    EXPECT_LT(milliseconds(m), 41) << threads;
    EXPECT_GE(m.used, m.work + m.polled) << threads;
  }
}

TEST(barrier_program, takes_the_same_steps_each_time) {
  barrier_cell c = small_barrier_cell(4, 3);
  c.kernel.imbalance = 0.2;
  c.kernel.sweeps = 20;
  c.kernel.planes = 8;
  c.kernel.swept = 0.5;
  const barrier_measurement first = simulate(c);
  EXPECT_EQ(simulate(c), first);
  EXPECT_GT(first.polled, 0u);
  c.seed = 2;
  EXPECT_NE(simulate(c).time, first.time);
}

TEST(barrier_program, waits_for_its_slowest_thread) {
  barrier_cell c = small_barrier_cell(4);
  const double even = milliseconds(simulate(c));
  c.kernel.imbalance = 0.5;
  // The largest of four numbers between -1 and 1 is 0.6 on average.
  EXPECT_NEAR(milliseconds(simulate(c)) / even, 1.3, 0.03);
}

TEST(barrier_program, loses_a_slice_at_each_barrier_if_copies_poll) {
  // The first threads of the copies begin on different CPUs, so the threads of a copy do not run at the
  // same time.
  barrier_cell c = small_barrier_cell(2, 2);
  c.serial = 5 * millisecond;
  c.setup.hypervisor.wake_granularity = 4 * millisecond;
  c.setup.hypervisor.sleeper_credit = 0;
  c.policy = openmp_wait::active;
  const barrier_measurement polls = simulate(c);
  EXPECT_GT(milliseconds(polls), 5 * 80);
  EXPECT_EQ(polls.sleeps, 0u);
  EXPECT_GT(polls.polled, 4 * polls.work);
  c.policy = openmp_wait::passive;
  const barrier_measurement sleeps = simulate(c);
  EXPECT_LT(milliseconds(sleeps), 1.25 * 80);
  EXPECT_GT(sleeps.sleeps, 100u);
}

TEST(barrier_program, sleeps_if_it_has_more_threads_than_cpus) {
  barrier_cell c = small_barrier_cell(4);
  c.setup.pcpus = 2;
  c.guest.vcpus = 2;
  const barrier_measurement m = simulate(c);
  EXPECT_GT(m.sleeps, 200u);
  EXPECT_GE(milliseconds(m), 79.9);
  EXPECT_LT(milliseconds(m), 1.25 * 80);
}

TEST(barrier_program, sweeps_in_a_pipeline) {
  barrier_cell c = small_barrier_cell(4);
  c.kernel.sweeps = 200;
  c.kernel.planes = 10;
  c.kernel.swept = 1;
  // Of ten planes, each thread begins three after the first thread: 13 steps instead of 10.
  EXPECT_NEAR(milliseconds(simulate(c)), 1.3 * 40, 1);
}

TEST(barrier_program, loses_slices_in_a_pipeline_on_one_cpu) {
  // The threads of a sweep poll without a limit under each policy.
  barrier_cell c = small_barrier_cell(2);
  c.kernel.sweeps = 100;
  c.kernel.planes = 10;
  c.kernel.swept = 0.5;
  c.setup.pcpus = 1;
  c.policy = openmp_wait::passive;
  const barrier_measurement m = simulate(c);
  EXPECT_GT(milliseconds(m), 2 * 80);
}

TEST(barrier_program, keeps_to_its_quota) {
  barrier_cell c = small_barrier_cell(2);
  c.setup.hypervisor.period = 10 * millisecond;
  c.guest.quota = 10 * millisecond;
  const barrier_measurement m = simulate(c);
  EXPECT_LE(m.most_in_a_period, 10 * millisecond);
  EXPECT_GE(milliseconds(m), 70);
}

TEST(barrier_program, stops_at_its_limit) {
  barrier_cell c = small_barrier_cell(2);
  c.limit = 10 * millisecond;
  const barrier_measurement m = simulate(c);
  EXPECT_TRUE(m.stopped);
  EXPECT_EQ(milliseconds(m), 10);
}

TEST(kernel_shape, keeps_its_proportions_at_another_length) {
  for (const kernel_shape& k : nas_kernels()) {
    const kernel_shape s = k.of_length(100);
    EXPECT_EQ(s.phases(), 100u) << k.name;
    EXPECT_NEAR(s.sweeps, 100.0 * k.sweeps / k.phases(), 1) << k.name;
    EXPECT_NEAR(static_cast<double>(s.work) / s.phases(), static_cast<double>(k.work) / k.phases(),
                0.02 * static_cast<double>(k.work) / k.phases())
        << k.name;
  }
}

}  // namespace
