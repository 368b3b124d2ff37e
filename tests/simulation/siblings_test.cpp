// SPDX-License-Identifier: Apache-2.0
// Tests of hypervisors that take into account which virtual CPUs belong to one guest, and of pause-loop exits
// of scripts.
#include "barrier_program.hpp"
#include "passing_time.hpp"

#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

namespace {

using namespace sukima::simulation;

scheduling with(sibling_rule siblings) {
  scheduling how;
  how.siblings = siblings;
  return how;
}

/// Guests whose vCPUs are always busy.
hypervisor busy_guests(unsigned pcpus, const std::vector<guest_shape>& shapes, sibling_rule siblings) {
  hypervisor all(pcpus, with(siblings));
  std::size_t vcpu = 0;
  for (const guest_shape& shape : shapes) {
    all.add_guest(shape);
    for (unsigned i = 0; i < shape.vcpus; ++i, ++vcpu) {
      all.demand(vcpu, hypervisor::forever);
      all.wake(vcpu, vcpu * 100 * microsecond);
    }
  }
  return all;
}

double share(const hypervisor& all, std::size_t guest) {
  return static_cast<double>(all.used(guest)) / second;
}

/// Returns for how long, within a second, only one of the vCPUs 0 and 1 runs.
std::uint64_t parted(sibling_rule siblings) {
  hypervisor all = busy_guests(2, {{2}, {3}}, siblings);
  std::uint64_t sum = 0;
  std::uint64_t last = 0;
  for (auto e = all.next(); e && e->at < second; e = all.next()) {
    if (all.is_running(0) != all.is_running(1)) sum += e->at - last;
    last = e->at;
    all.happen(*e);
  }
  return sum;
}

TEST(siblings, run_at_the_same_time_with_co_scheduling) {
  EXPECT_LT(parted(sibling_rule::together), 10 * millisecond);
  EXPECT_GT(parted(sibling_rule::none), 200 * millisecond);
}

TEST(siblings, get_turns_by_weight) {
  hypervisor all = busy_guests(2, {{2, 1024}, {2, 3072}}, sibling_rule::together);
  run_until(all, second);
  EXPECT_NEAR(share(all, 0), 0.5, 0.03);
  EXPECT_NEAR(share(all, 1), 1.5, 0.03);
}

TEST(siblings, of_several_small_guests_have_turns_at_the_same_time) {
  hypervisor all = busy_guests(4, {{2}, {2}, {3}}, sibling_rule::together);
  run_until(all, second);
  // Turns alternate between the two guests and the third one, whose unused CPU the others use.
  EXPECT_NEAR(share(all, 2), 1.5, 0.03);
  EXPECT_NEAR(share(all, 0) + share(all, 1), 2.5, 0.03);
}

TEST(siblings, preempt_others_in_their_turn_when_they_wake) {
  hypervisor all = busy_guests(2, {{2}, {2}}, sibling_rule::together);
  run_until(all, 100 * millisecond);
  const std::size_t running = all.is_running(0) ? 0 : 2;
  all.halt(running);
  run_until(all, all.latest_clock() + 100 * microsecond);
  EXPECT_TRUE(all.is_running(2 - running) || all.is_running(3 - running)) << "the CPU is not left idle";
  const std::uint64_t at = all.latest_clock() + 100 * microsecond;
  all.demand(running, microsecond);
  all.wake(running, at);
  auto e = all.next();
  while (!e->met) {
    all.happen(*e);
    e = all.next();
  }
  EXPECT_EQ(e->met, running);
  EXPECT_LT(e->at, at + 10 * microsecond);
}

TEST(siblings, lose_nothing_by_polling_with_co_scheduling) {
  barrier_cell c;
  c.kernel = {"small", 80 * millisecond, 50, 150};
  c.kernel.imbalance = 0;
  c.threads = c.copies = c.guest.vcpus = c.setup.pcpus = 2;
  c.policy = openmp_wait::active;
  const double alone = 40 * millisecond;
  c.setup.hypervisor = with(sibling_rule::together);
  EXPECT_LT(simulate(c).time, 1.2 * 2 * alone);
}

TEST(siblings, wait_for_different_cpus_with_balance_scheduling) {
  hypervisor all(4, with(sibling_rule::apart));
  constexpr std::size_t vcpus = 8;
  all.add_guest({4});
  all.add_guest({4});
  for (int round = 0; round < 5; ++round) {
    std::vector<std::set<std::size_t>> places(2);
    for (std::size_t i = 0; i < vcpus; ++i) {
      const std::size_t v = (i * 3 + static_cast<std::size_t>(round)) % vcpus;
      all.demand(v, (1 + v % 3) * millisecond);
      all.wake(v, all.latest_clock());
    }
    for (std::size_t ended = 0; ended < vcpus;) {
      const auto e = all.next();
      all.happen(*e);
      if (!e->met) continue;
      places[*e->met / 4].insert(e->pcpu);
      all.halt(*e->met);
      ++ended;
    }
    EXPECT_EQ(places[0].size(), 4u) << round;
    EXPECT_EQ(places[1].size(), 4u) << round;
  }
}

TEST(siblings, may_have_more_than_there_are_cpus) {
  hypervisor all = busy_guests(2, {{3}, {1}}, sibling_rule::apart);
  run_until(all, second);
  EXPECT_NEAR(share(all, 0) + share(all, 1), 2, 0.02);
  EXPECT_NEAR(share(all, 1), 0.5, 0.03);
}

/// Returns which of three vCPUs on one pCPU runs after two have yielded. The last one has run most.
std::size_t follows(bool demotes) {
  hypervisor all(1, {});
  all.add_guest({3});
  for (std::size_t v = 0; v < 3; ++v) all.demand(v, hypervisor::forever);
  all.wake(2, 0);
  run_until(all, 2 * millisecond);
  all.wake(0, 2 * millisecond);
  all.wake(1, 2 * millisecond);
  run_until(all, 10 * microsecond + 2 * millisecond);
  for (std::size_t v = 0; v < 2; ++v) {
    EXPECT_TRUE(all.is_running(v));
    EXPECT_TRUE(all.yield(v, false, demotes));
  }
  return all.is_running(0) ? 0 : 2;
}

TEST(siblings, that_have_yielded_come_last_if_they_are_demoted) {
  EXPECT_EQ(follows(false), 0u);
  EXPECT_EQ(follows(true), 2u);
}

/// Two copies of four threads each on four pCPUs. All threads poll at barriers.
barrier_cell polling_copies() {
  barrier_cell c;
  c.kernel = {"small", 40 * millisecond, 50, 150};
  c.threads = c.guest.vcpus = c.setup.pcpus = 4;
  c.copies = 2;
  c.policy = openmp_wait::active;
  return c;
}

TEST(pause_loop_exits, let_the_thread_run_that_scripts_wait_for) {
  barrier_cell c = polling_copies();
  const barrier_measurement polls = simulate(c);
  EXPECT_EQ(polls.exits, 0u);
  c.setup.exits = {205, 410};
  const barrier_measurement exits = simulate(c);
  EXPECT_GT(exits.exits, 100u);
  EXPECT_LT(exits.time, 0.8 * polls.time);
  EXPECT_EQ(exits.work, polls.work);
}

TEST(pause_loop_exits, do_not_see_loops_without_the_pause_instruction) {
  barrier_cell c = polling_copies();
  c.kernel.sweeps = 200;
  c.kernel.planes = 4;
  c.kernel.swept = 1;
  c.policy = openmp_wait::passive;
  c.setup.exits = {205, 410};
  const barrier_measurement m = simulate(c);
  EXPECT_EQ(m.exits, 0u);
  EXPECT_GT(m.polled, 0u);
}

TEST(pause_loop_exits, need_pauses_that_are_close_enough) {
  barrier_cell c = polling_copies();
  c.setup.exits = {4, 410};
  EXPECT_EQ(simulate(c).exits, 0u);
}

}  // namespace
