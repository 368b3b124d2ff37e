// SPDX-License-Identifier: Apache-2.0
// Neighbours that are bound to CPUs, that come and go, or that have other nice values; and estimates beside
// what the process gets now.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "world.hpp"

extern "C" {
#include "estimate/fair_share.h"
}

namespace {

using sukima_test::report_pointer;
using sukima_test::world;

/// Two containers with one CPU set on a machine of two CPUs.
TEST(bound_neighbours, share_the_cpus_that_both_are_bound_to) {
  world here("0-1", "0");
  here.group("/ours", "100", "max 100000").group("/other", "100", "max 100000");
  here.foreign_thread("/other", 501, 1, 0, 0, "0").uses("/other", 1).uses("", 1).run(2);
  EXPECT_NEAR(here.usable(1).usable, 0.5, 0.01);
  EXPECT_EQ(here.usable(1).basis, SUKIMA_CAPACITY_BASIS_TREE);
  here.group("/other", "300", "max 100000").uses("/other", 1).run(2);
  EXPECT_NEAR(here.usable(1).usable, 0.25, 0.01);
}

TEST(bound_neighbours, are_known_by_the_cpuset_of_their_group_if_their_threads_are_hidden) {
  world here("0-3", "0-1");
  here.group("/ours", "100", "max 100000").group("/other", "100", "max 100000");
  here.tree().file("/sys/fs/cgroup/other/cpuset.cpus.effective", "0-1\n");
  here.uses("/other", 2).uses("", 2).run(2);
  EXPECT_NEAR(here.usable(2).usable, 1, 0.01);
}

TEST(bound_neighbours, on_other_cpus_take_nothing) {
  world here("0-1", "0");
  here.group("/ours", "100", "max 100000").group("/other", "1000", "max 100000");
  here.foreign_thread("/other", 501, 1, 0, 0, "1").uses("/other", 1).uses("", 1).run(2);
  const sukima_capacity_estimate one = here.usable(1);
  EXPECT_NEAR(one.usable, 1, 0.01);
  EXPECT_GT(one.low, 0.9);
}

TEST(bound_neighbours, that_may_run_anywhere_move_away) {
  world here("0-1", "0");
  here.group("/ours", "100", "max 100000").group("/other", "100", "max 100000");
  here.foreign_thread("/other", 501, 1, 0, 0, "0-1").uses("/other", 1).uses("", 1).run(2);
  EXPECT_NEAR(here.usable(1).usable, 1, 0.01);
}

/// CPUs 0 and 1 are ours; a hog may use 1 and 2, and other threads keep 2 and 3 busy: all four CPUs are
/// shared as one machine.
TEST(bound_neighbours, whose_other_cpus_are_busy_come_back) {
  world here("0-3", "0-1");
  here.group("/ours", "100", "max 100000");
  for (const int i : {1, 2, 3}) here.group("/two-" + std::to_string(i), "100", "max 100000");
  for (const int i : {1, 2, 3}) {
    here.foreign_thread("/two-" + std::to_string(i), 500 + i, 2.0 / 3, 1.0 / 3, 0, "1-2");
    here.uses("/two-" + std::to_string(i), 2.0 / 3);
  }
  here.uses("", 2).run(2);
  // CPUs 0 to 2 are shared by ours with two threads, and three others that want two thirds each.
  EXPECT_NEAR(here.usable(2).usable, 1, 0.02);
}

TEST(bound_neighbours, in_the_own_group_share_by_thread) {
  world here("0-3", "0");
  here.group("/ours", "100", "max 100000").uses("/ours", 2).uses("", 2);
  here.foreign_thread("/ours", 501, 1, 0, 0, "0").foreign_thread("/ours", 502, 1, 0, 0, "0-3").run(2);
  EXPECT_NEAR(here.usable(1).usable, 0.5, 0.01);
}

TEST(estimate_beside_now, never_contradicts_what_the_process_gets) {
  world here("0-1");
  // Nothing can be seen that takes the other half.
  here.group("/ours", "100", "max 100000").uses("/ours", 0.5).uses("", 0.5);
  here.own_thread(4711, 0.5, 0.5).run(3);
  const sukima_capacity_estimate one = here.usable(1);
  EXPECT_NEAR(one.usable, 0.5, 0.06);
  EXPECT_LE(one.high, 0.56);
  EXPECT_EQ(one.basis, SUKIMA_CAPACITY_BASIS_EXPERIMENT);
  const sukima_capacity_estimate two = here.usable(2);
  EXPECT_LE(two.usable, 1.11);
  EXPECT_GE(two.low, 0.44);
  EXPECT_EQ(two.basis, SUKIMA_CAPACITY_BASIS_BLIND);
}

TEST(estimate_beside_now, never_promises_less_than_the_process_gets) {
  world here("0-1");
  // By fair shares its four threads would get 0.4 CPUs.
  here.group("/ours", "100", "max 100000").uses("/ours", 1.6).uses("", 2);
  for (int i = 0; i < 4; i++) here.group("/hog" + std::to_string(i), "100", "max 100000");
  for (int i = 0; i < 4; i++) here.uses("/hog" + std::to_string(i), 0.1);
  for (int i = 0; i < 4; i++) here.foreign_thread("/hog" + std::to_string(i), 501 + i, 0.1, 0.9);
  for (int i = 0; i < 4; i++) here.own_thread(4711 + i, 0.4, 0.6);
  here.run(3);
  EXPECT_GE(here.usable(4).usable, 1.4);
}

/// One hog that is on for 30 ms and off for 30 ms, on our one CPU: half of the time we have it alone.
TEST(neighbours_that_come_and_go, share_only_while_they_are_there) {
  for (const double on : {0.03, 0.2}) {
    SCOPED_TRACE(on);
    world here("0-0");
    here.group("/ours", "100", "max 100000").group("/other", "100", "max 100000");
    here.comes_and_goes(on, on).with_use_of("/other").with_use_of("");
    here.foreign_thread("/other", 501, 1, 0).uses("/other", 1).uses("", 1).run(4);
    const sukima_capacity_estimate one = here.usable(1);
    EXPECT_NEAR(one.usable, 0.75, 0.04);
    EXPECT_LE(one.low, 0.53);
  }
}

TEST(neighbours_that_come_and_go, in_our_own_group_do_so_as_well) {
  world here("0-1");
  here.group("/ours", "100", "max 100000").comes_and_goes(0.2, 0.2).with_use_of("").with_use_of("/ours");
  here.foreign_thread("/ours", 501, 1, 0)
      .foreign_thread("/ours", 502, 1, 0)
      .uses("/ours", 2)
      .uses("", 2)
      .run(4);
  // Independent of each other: 2 CPUs in a quarter of the time, 4/3 in half of it, 1 in a quarter.
  EXPECT_NEAR(here.usable(2).usable, 1.42, 0.05);
}

TEST(neighbours_that_come_and_go, keep_what_they_use_if_they_answer_requests) {
  world here("0-0");
  here.group("/ours", "100", "max 100000").group("/server", "100", "max 100000");
  here.foreign_thread("/server", 501, 0.4, 0).uses("/server", 0.4).uses("", 0.4).run(4);  // slices of 4 ms
  EXPECT_NEAR(here.usable(1).usable, 0.6, 0.02);
}

TEST(neighbours_that_come_and_go, are_not_those_that_have_just_started) {
  world here("0-1");
  here.group("/ours", "100", "max 100000").group("/other", "100", "max 100000").run(3);
  here.foreign_thread("/other", 501, 1, 0).foreign_thread("/other", 502, 1, 0);
  here.uses("/other", 2).uses("", 2).run(1.2);
  EXPECT_NEAR(here.usable(2).usable, 1, 0.05);
}

/// The files of a thread that has ended are closed, and the threads of a removed group are no longer
/// followed: the estimator asserts both after each search.
TEST(neighbours_that_come_and_go, leave_nothing_behind) {
  world here("0-1");
  here.group("/ours", "100", "max 100000").group("/other", "100", "max 100000");
  here.foreign_thread("/ours", 501, 1, 0).foreign_thread("/ours", 502, 1, 0).uses("/ours", 2).uses("", 2);
  here.run(3);
  EXPECT_LE(here.usable(2).usable, 1.4);
  here.end_thread("/ours", 501).uses("/ours", 1).uses("", 1).run(4);
  here.end_thread("/ours", 502).uses("/ours", 0).uses("", 0).run(4);
  EXPECT_NEAR(here.usable(2).usable, 2, 0.05);
  here.foreign_thread("/other", 503, 1, 0).foreign_thread("/other", 504, 1, 0).uses("/other", 2).uses("", 2);
  here.run(3);
  EXPECT_NEAR(here.usable(2).usable, 1, 0.05);
  here.remove_group("/other").uses("", 0).run(4);
  EXPECT_NEAR(here.usable(2).usable, 2, 0.05);
}

/// Our threads have this nice value from now on.
void renice(world& here, int nice) {
  here.tree().file(
      "/proc/self/stat",
      "4711 (a) R 1 4711 4711 34816 4711 4194304 1 2 3 4 5 6 7 8 " + std::to_string(20 + nice) + " " +
          std::to_string(nice) +
          " 1 0 99 1000000 200 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 0 0 0 "
          "0 0 0 0 0\n");
}

/// One thread with nice 5 beside three without on two CPUs: it stays where only one other is.
TEST(nice_threads, get_what_their_place_gives) {
  world here("0-1");
  here.group("/ours", "100", "max 100000").uses("/ours", 2).uses("", 2);
  for (int i = 0; i < 3; i++) here.foreign_thread("/ours", 501 + i, 2.0 / 3, 1.0 / 3);
  renice(here, 5);
  here.run(3);
  EXPECT_NEAR(here.usable(1).usable, 335.0 / (335 + 1024), 0.01);
}

TEST(nice_threads, may_become_so_between_two_samples) {
  world here("0-1");
  here.group("/ours", "100", "max 100000").uses("/ours", 2).uses("", 2);
  for (int i = 0; i < 3; i++) here.foreign_thread("/ours", 501 + i, 2.0 / 3, 1.0 / 3);
  here.run(3);
  EXPECT_NEAR(here.usable(1).usable, 0.5, 0.01);
  renice(here, 5);
  here.run(3);
  EXPECT_NEAR(here.usable(1).usable, 335.0 / (335 + 1024), 0.01);
}

TEST(own_group, may_be_another_one_between_two_samples) {
  world here("0-1");
  here.group("/ours", "100", "max 100000").group("/narrow", "100", "50000 100000").run(2);
  EXPECT_NEAR(here.usable(2).usable, 2, 0.01);
  here.tree().file("/proc/self/cgroup", "0::/narrow\n");
  here.run(2);
  EXPECT_NEAR(here.usable(2).usable, 0.5, 0.01);
  here.tree().file("/proc/self/cgroup", "0::/ours\n");
  here.run(2);
  EXPECT_NEAR(here.usable(2).usable, 2, 0.01);
}

TEST(placed_share, is_the_fair_one_where_all_are_equal) {
  for (std::size_t cpus = 1; cpus <= 4; cpus++) {
    for (std::size_t count = 1; count <= 12; count++) {
      double weights[cap_placed_count];
      std::fill_n(weights, count, 1.0);
      const double expected = std::min(1.0, static_cast<double>(cpus) / static_cast<double>(count));
      EXPECT_NEAR(cap_placed_share(cpus, weights, count, 1), expected, 1e-9) << cpus << " " << count;
    }
  }
}

TEST(placed_share, adds_up_to_all_cpus_in_use) {
  double weights[] = {1, 0.327, 3.05, 1, 0.327, 0.0146};
  double sum = 0;
  for (const double one : {1.0, 0.327}) sum += 2 * cap_placed_share(2, weights, 6, one);
  for (const double one : {3.05, 0.0146}) sum += cap_placed_share(2, weights, 6, one);
  EXPECT_NEAR(sum, 2, 1e-9);
  EXPECT_EQ(cap_placed_share(2, weights, 6, 7), 0) << "there is no such thread";
}

TEST(neighbours, are_named_by_their_program_and_group) {
  world here("0-1", "0");
  here.group("/ours", "100", "max 100000").group("/shop", "100", "max 100000");
  here.uses("/shop", 0.5).uses("/ours", 0.5).uses("", 1);
  here.foreign_thread("/shop", 501, 0.5, 0.1).foreign_thread("/ours", 601, 0.5, 0.1, 0, "0").run(2);
  const report_pointer report(sukima_capacity_estimator_explain(here.estimator()));
  std::string texts;
  for (std::size_t i = 0; i < report->limit_count; i++) texts += std::string(report->limits[i].text) + "\n";
  EXPECT_NE(texts.find("'hog' (thread 601) in its own group 'ours' uses 0.5 CPUs, bound to 1 CPU\n"),
            std::string::npos)
      << texts;
  EXPECT_NE(texts.find("the group 'shop', mainly 'hog', beside its own uses 0.5 CPUs with weight 1\n"),
            std::string::npos)
      << texts;
}

TEST(own_group, keeps_its_neighbours_when_its_quota_is_lifted) {
  sukima_test::recorded_tree tree;
  tree.machine("0-1", "0-1").file("/proc/self/cgroup", "4:cpu,cpuacct:/ours\n").file("/cg/release_agent", "");
  tree.file("/proc/self/mountinfo", sukima_test::mount_line("/", "/cg", "cgroup", "rw,cpu,cpuacct"));
  for (const std::string folder : {"/cg", "/cg/ours", "/cg/other"}) {
    tree.file(folder + "/cgroup.procs", "")
        .file(folder + "/tasks", "")
        .file(folder + "/cpu.shares", "1024\n");
    tree.file(folder + "/cpu.cfs_quota_us", "-1\n").file(folder + "/cpu.cfs_period_us", "100000\n");
  }
  tree.file("/cg/ours/cpu.cfs_quota_us", "150000\n").file("/cg/ours/cpuacct.usage", "0\n");
  sukima_capacity_options options = tree.options();
  const std::unique_ptr<sukima_capacity_estimator, sukima_test::estimator_deleter> estimator(
      sukima_capacity_estimator_open(&options));
  for (std::uint64_t i = 0; i < 40; i++) {
    if (i == 25) tree.file("/cg/ours/cpu.cfs_quota_us", "-1\n");
    const std::string used = std::to_string(2 * i * 100'000'000) + "\n";
    tree.file("/cg/cpuacct.usage", used).file("/cg/other/cpuacct.usage", used);
    sukima_capacity_estimator_sample(estimator.get(), 1'000'000'000'000 + i * 100'000'000);
    sukima_capacity_estimate two{};
    sukima_capacity_estimator_usable(estimator.get(), 2, &two);
    if (i >= 10) {
      EXPECT_NEAR(two.usable, 1, 0.05) << i;
    }
  }
}

}  // namespace
