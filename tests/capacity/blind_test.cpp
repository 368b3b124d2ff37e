// SPDX-License-Identifier: Apache-2.0
// Estimates where the groups of others cannot be seen, as in a container.
#include <gtest/gtest.h>

#include <cerrno>

#include "world.hpp"

namespace {

using sukima_test::world;

/// A container: its own group is all that it sees.
void hide_the_tree(world& here) {
  here.tree().file("/proc/self/cgroup", "0::/\n");
  here.tree().file("/sys/fs/cgroup/cgroup.events", "populated 1\n");
  here.tree().file("/sys/fs/cgroup/cpu.max", "max 100000\n").file("/sys/fs/cgroup/cpu.weight", "100\n");
}

TEST(blind, an_idle_program_gets_an_interval) {
  world here("0-1");
  hide_the_tree(here);
  here.uses("", 2).runs(2).run(3);
  const sukima_capacity_estimate two = here.usable(2);
  EXPECT_EQ(two.basis, SUKIMA_CAPACITY_BASIS_BLIND);
  EXPECT_LE(two.low, two.usable);
  EXPECT_LE(two.usable, two.high);
  EXPECT_NEAR(two.usable, 1, 0.02);
  EXPECT_EQ(two.high, 2);
  EXPECT_EQ(here.load().tree_visible, 0u);
}

TEST(blind, a_trial_gives_a_number) {
  world here("0-1");
  hide_the_tree(here);
  here.own_thread(4711, 1, 0).uses("", 1).runs(3).run(3);
  EXPECT_EQ(sukima_capacity_estimator_experiment_end(here.estimator(), nullptr), EINVAL);
  EXPECT_EQ(here.usable(2).basis, SUKIMA_CAPACITY_BASIS_BLIND);
  EXPECT_NEAR(here.usable(2).low, 0.95, 0.01);
  EXPECT_EQ(here.usable(2).high, 2);
  sukima_capacity_estimator_experiment_begin(here.estimator(), 2);
  here.run(0.1);
  EXPECT_EQ(sukima_capacity_estimator_experiment_end(here.estimator(), nullptr), EAGAIN);
  here.run(0.4);
  sukima_capacity_estimate two{};
  EXPECT_EQ(sukima_capacity_estimator_experiment_end(here.estimator(), &two), 0);
  EXPECT_EQ(two.basis, SUKIMA_CAPACITY_BASIS_EXPERIMENT);
  EXPECT_NEAR(two.usable, 1, 0.02);
  EXPECT_LE(here.usable(4).high, 2);
  here.run(11);  // too old
  EXPECT_EQ(here.usable(2).basis, SUKIMA_CAPACITY_BASIS_BLIND);
}

TEST(blind, a_trial_that_begins_before_the_first_sample_begins_with_it) {
  world here("0-1");
  hide_the_tree(here);
  here.own_thread(4711, 1, 0).uses("", 1).runs(3).run(0);
  sukima_capacity_estimator_experiment_begin(here.estimator(), 2);
  here.run(0.2);
  EXPECT_EQ(sukima_capacity_estimator_experiment_end(here.estimator(), nullptr), EAGAIN);
  here.run(0.3);
  sukima_capacity_estimate two{};
  EXPECT_EQ(sukima_capacity_estimator_experiment_end(here.estimator(), &two), 0);
  EXPECT_NEAR(two.usable, 1, 0.02);
}

TEST(blind, others_outside_the_own_group_are_a_group_too) {
  // Our two threads and two foreign ones get half a CPU each. If they were in our group, they would get more
  // if we had fewer threads. But our group uses no more than we do, so they are in another one.
  world here("0-1");
  hide_the_tree(here);
  here.own_thread(4711, 0.5, 0.5).own_thread(4712, 0.5, 0.5).uses("", 1).machine_uses(2).runs(4).run(3);
  EXPECT_NEAR(here.usable(1).usable, 1, 0.02);
  EXPECT_NEAR(here.usable(4).usable, 1, 0.02);
}

TEST(blind, others_in_the_own_group_share_thread_by_thread) {
  world here("0-1");
  hide_the_tree(here);
  here.own_thread(4711, 0.5, 0.5).own_thread(4712, 0.5, 0.5).uses("", 2).runs(4);
  here.foreign_thread("", 5001, 0.5, 0.5).foreign_thread("", 5002, 0.5, 0.5).run(3);
  EXPECT_NEAR(here.usable(1).usable, 0.67, 0.02);
  EXPECT_NEAR(here.usable(4).usable, 1.33, 0.05);
}

TEST(blind, idle_cpus_do_not_count_in_full_because_a_hidden_group_may_have_a_quota) {
  world here("0-1");
  hide_the_tree(here);
  here.uses("", 0).machine_uses(0.1).run(3);
  EXPECT_GT(here.usable(2).usable, 1.5);
  EXPECT_LT(here.usable(2).low, 0.5) << "the group above may have a quota of half a CPU";
  EXPECT_EQ(here.usable(2).high, 2);
}

TEST(blind, a_quota_that_cannot_be_seen_is_the_cause_if_threads_wait_beside_idle_cpus) {
  world here("0-1");
  hide_the_tree(here);
  here.own_thread(4711, 0.25, 0.75).own_thread(4712, 0.25, 0.75).uses("", 0.5).runs(2).run(3);
  const sukima_capacity_estimate two = here.usable(2);
  EXPECT_NEAR(two.usable, 0.5, 0.02);
  EXPECT_EQ(sukima_capacity_estimator_cause(here.estimator(), &two), SUKIMA_CAPACITY_THROTTLING);
  const sukima_test::report_pointer report(sukima_capacity_estimator_explain(here.estimator()));
  const sukima_capacity_limit& cause = sukima_test::binding_of(*report);
  EXPECT_EQ(cause.kind, SUKIMA_CAPACITY_THROTTLING);
  EXPECT_NE(std::string(cause.text).find("cannot be seen from here seems to have a quota"),
            std::string::npos);
}

TEST(blind, programs_that_cannot_be_seen_are_the_cause_by_their_sum) {
  world here("0-1");
  hide_the_tree(here);
  here.own_thread(4711, 0.5, 0.5).own_thread(4712, 0.5, 0.5).uses("", 1).machine_uses(2).runs(4).run(3);
  const sukima_test::report_pointer report(sukima_capacity_estimator_explain(here.estimator()));
  EXPECT_EQ(sukima_test::binding_of(*report).kind, SUKIMA_CAPACITY_NEIGHBOUR);
  EXPECT_STREQ(sukima_test::binding_of(*report).text, "programs that cannot be seen from here use 1 CPU");
}

}  // namespace
