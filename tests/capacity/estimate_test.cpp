// SPDX-License-Identifier: Apache-2.0
// Estimates on made-up trees whose counters move as the test wants: the expected shares are worked out by
// hand.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "world.hpp"

extern "C" {
#include "text/counters.h"
}

namespace {

using sukima_test::estimator_deleter;
using sukima_test::world;

TEST(estimate, facts_are_the_answer_before_anything_is_measured) {
  world here("0-3");
  here.group("/ours", "100", "150000 100000").run(0.1);
  const sukima_capacity_estimate all = here.usable(0);
  EXPECT_EQ(all.threads, 4);
  EXPECT_EQ(all.usable, 1.5);
  EXPECT_EQ(all.low, 0);
  EXPECT_EQ(all.high, 1.5);
  EXPECT_EQ(all.basis, SUKIMA_CAPACITY_BASIS_FACTS);
  EXPECT_EQ(here.usable(1).usable, 1);
}

TEST(estimate, alone_everything_is_usable) {
  world here("0-3");
  here.group("/ours", "100", "max 100000").run(1);
  EXPECT_NEAR(here.usable(4).usable, 4, 0.01);
  EXPECT_NEAR(here.usable(1).usable, 1, 0.01);
  EXPECT_EQ(here.usable(8).usable, 4);
  EXPECT_EQ(here.usable(2).basis, SUKIMA_CAPACITY_BASIS_TREE);
}

// Two hogs in one group, on two CPUs: the groups share by halves.
TEST(estimate, a_program_that_has_not_started_beside_one_busy_group) {
  world here("0-1");
  here.group("/ours", "100", "max 100000").group("/hogs", "100", "max 100000");
  here.uses("/hogs", 2).uses("", 2).run(1);
  EXPECT_NEAR(here.usable(1).usable, 1, 0.01);
  EXPECT_NEAR(here.usable(2).usable, 1, 0.01);
  EXPECT_NEAR(here.usable(8).usable, 1, 0.01);
  EXPECT_EQ(here.load().neighbours, 1u);
}

TEST(estimate, weights_of_groups_count) {
  world here("0-1");
  here.group("/ours", "100", "max 100000").group("/hogs", "400", "max 100000");
  here.uses("/hogs", 2).uses("", 2).run(1);
  EXPECT_NEAR(here.usable(2).usable, 0.4, 0.01);
  here.group("/ours", "400", "max 100000").group("/hogs", "100", "max 100000").uses("/hogs", 2).run(1);
  EXPECT_NEAR(here.usable(2).usable, 1.6, 0.01);
}

TEST(estimate, hogs_in_groups_of_their_own_take_a_share_each) {
  world here("0-1");
  here.group("/ours", "100", "max 100000");
  for (const char* name : {"/one", "/two"}) here.group(name, "100", "max 100000").uses(name, 1);
  here.uses("", 2).run(1);
  EXPECT_NEAR(here.usable(2).usable, 2.0 / 3, 0.01);
}

TEST(estimate, a_neighbour_that_wants_little_keeps_only_that) {
  world here("0-1");
  here.group("/ours", "100", "max 100000").group("/little", "100", "max 100000");
  here.uses("/little", 0.25).uses("", 0.25).run(1);
  EXPECT_NEAR(here.usable(2).usable, 1.75, 0.01);
  EXPECT_NEAR(here.usable(1).usable, 1, 0.01);
}

TEST(estimate, threads_of_others_in_the_same_group_count_one_by_one) {
  world here("0-1");
  here.group("/ours", "100", "max 100000").uses("/ours", 2).uses("", 2);
  here.foreign_thread("/ours", 501, 1, 0).foreign_thread("/ours", 502, 1, 0).run(2);
  EXPECT_NEAR(here.usable(1).usable, 2.0 / 3, 0.01);
  EXPECT_NEAR(here.usable(2).usable, 1, 0.01);
  EXPECT_NEAR(here.usable(4).usable, 4.0 / 3, 0.01);
}

TEST(estimate, nice_threads_leave_more) {
  world here("0-1");
  here.group("/ours", "100", "max 100000").uses("/ours", 2).uses("", 2);
  here.foreign_thread("/ours", 501, 1, 0, 19).foreign_thread("/ours", 502, 1, 0, 19).run(2);
  EXPECT_NEAR(here.usable(2).usable, 2 * 1 / (1 + 15 / 1024.0), 0.01);
}

TEST(estimate, fewer_threads_leave_room_for_neighbours_that_wait) {
  world here("0-1");
  // Our four threads and two hogs in one group on two CPUs: each thread gets a third and waits for the rest.
  here.group("/ours", "100", "max 100000").uses("/ours", 2).uses("", 2);
  for (int i = 0; i < 4; i++) here.own_thread(4711 + i, 1.0 / 3, 2.0 / 3);
  here.foreign_thread("/ours", 501, 1.0 / 3, 2.0 / 3).foreign_thread("/ours", 502, 1.0 / 3, 2.0 / 3).run(2);
  EXPECT_NEAR(here.load().now, 4.0 / 3, 0.01);
  EXPECT_NEAR(here.load().wanted, 4, 0.01);
  EXPECT_NEAR(here.usable(1).usable, 2.0 / 3, 0.01);
  EXPECT_NEAR(here.usable(2).usable, 1, 0.01);
  EXPECT_NEAR(here.usable(8).usable, 1.6, 0.01);
}

TEST(estimate, threads_beyond_those_that_are_kept_are_not_neighbours) {
  world here("0-1");
  here.group("/ours", "100", "max 100000");
  constexpr int threads = 4200;
  constexpr std::size_t kept = 4096;
  for (int i = 0; i < threads; i++) here.own_thread(10000 + i, 0, 0);
  here.run(0);  // writes the files: which threads are kept depends on the order of their folder
  std::vector<int> numbers;
  for (const auto& entry : std::filesystem::directory_iterator(here.tree().root() + "/proc/self/task"))
    numbers.push_back(std::stoi(entry.path().filename().string()));
  ASSERT_EQ(numbers.size(), static_cast<std::size_t>(threads));
  for (std::size_t i = kept; i < kept + 4; i++) here.foreign_thread("/ours", numbers.at(i), 0.25, 0.75);
  here.run(1);
  EXPECT_EQ(here.load().threads, static_cast<unsigned>(threads));
  EXPECT_EQ(here.load().neighbours, 0u);
}

TEST(estimate, a_quota_above_both_is_shared) {
  world here("0-1");
  here.tree().file("/proc/self/cgroup", "0::/pod/ours\n");
  here.group("/pod", "100", "100000 100000").group("/pod/ours", "100", "max 100000");
  here.group("/pod/hogs", "100", "max 100000");
  here.uses("/pod/hogs", 1, 1).uses("/pod", 1, 1).uses("", 1).run(1);
  EXPECT_NEAR(here.usable(2).usable, 0.5, 0.01);
  EXPECT_NEAR(here.usable(1).usable, 0.5, 0.01);
}

TEST(estimate, waiting_for_the_next_period_is_not_waiting_for_others) {
  world here("0-1");
  // Two threads under a quota of half a CPU run a quarter of the time each; the kernel counts the throttled
  // time of both CPUs.
  here.group("/ours", "100", "50000 100000").uses("/ours", 0.5, 1.5).uses("", 0.5);
  here.own_thread(4711, 0.25, 0.75).own_thread(4712, 0.25, 0.75).run(1);
  const sukima_capacity_load load = here.load();
  EXPECT_NEAR(load.throttled, 0.75, 0.01);
  EXPECT_NEAR(load.waiting, 0, 0.01);
  EXPECT_NEAR(load.wanted, 2, 0.01);
  EXPECT_NEAR(here.usable(2).usable, 0.5, 0.01);
}

TEST(estimate, steal_takes_from_everybody) {
  world here("0-1");
  here.group("/ours", "100", "max 100000").uses("/ours", 1.5).uses("", 1.5).steals(0.25);
  here.own_thread(4711, 0.75, 0).own_thread(4712, 0.75, 0).run(3);
  EXPECT_NEAR(here.load().stolen, 0.25, 0.01);
  EXPECT_NEAR(here.usable(2).usable, 1.5, 0.03);
  EXPECT_NEAR(here.usable(1).usable, 0.75, 0.02);
}

TEST(estimate, gaps_that_a_probe_found_count_as_taken) {
  world here("0-1");
  here.group("/ours", "100", "max 100000").uses("/ours", 2).uses("", 2);
  here.own_thread(4711, 1, 0).own_thread(4712, 1, 0).run(2);
  ASSERT_NEAR(here.usable(2).usable, 2, 0.01);
  sukima_capacity_estimator_add_steal_probe(here.estimator(), 0.7);
  sukima_capacity_estimator_add_steal_probe(here.estimator(), 0.5);
  for (const double refused : {-0.1, 1.1, std::nan("")})
    sukima_capacity_estimator_add_steal_probe(here.estimator(), refused);
  here.run(1);
  EXPECT_NEAR(here.load().stolen, 0.6, 1e-9);
  EXPECT_NEAR(here.usable(2).usable, 0.8, 0.01);
  EXPECT_NEAR(here.usable(1).usable, 0.4, 0.01);
  EXPECT_NEAR(here.load().now, 0.8, 0.01) << "the kernel has booked 2";
  here.run(31);
  EXPECT_EQ(here.load().stolen, 0) << "that was half a minute ago";
  EXPECT_NEAR(here.usable(2).usable, 2, 0.01);
}

TEST(estimate, gaps_that_are_steal_time_are_taken_once) {
  world here("0-1");
  here.group("/ours", "100", "max 100000").uses("/ours", 1.5).uses("", 1.5).steals(0.25);
  here.own_thread(4711, 0.75, 0).own_thread(4712, 0.75, 0).run(3);
  sukima_capacity_estimator_add_steal_probe(here.estimator(), 0.24);
  here.run(1);
  EXPECT_NEAR(here.load().stolen, 0.25, 0.01);
  EXPECT_NEAR(here.load().now, 1.5, 0.02);
}

TEST(estimate, clocks_that_run_on_while_others_have_the_cpu_are_corrected) {
  world all_busy("0-1");
  all_busy.group("/ours", "100", "max 100000").uses("/ours", 2).uses("", 1.5).steals(0.25);
  all_busy.own_thread(4711, 1, 0).own_thread(4712, 1, 0).run(3);
  EXPECT_NEAR(all_busy.load().now, 1.5, 0.02);
  world one_busy("0-1");
  one_busy.group("/ours", "100", "max 100000").uses("/ours", 1).uses("", 0.75).steals(0.25);
  one_busy.own_thread(4711, 1, 0).run(3);
  EXPECT_NEAR(one_busy.load().now, 0.75, 0.02);
}

TEST(estimate, the_hosts_message_limits_the_whole_machine) {
  world here("0-3");
  here.group("/ours", "100", "max 100000");
  here.tree().file("/run/sukima/host", "sukima-host 1\nusable 1.5\nvalid 3600\nend\n");
  here.run(1);
  EXPECT_EQ(here.load().host_cpus, 1.5);
  EXPECT_NEAR(here.usable(4).usable, 1.5, 0.01);
  EXPECT_EQ(here.usable(4).basis, SUKIMA_CAPACITY_BASIS_HOST);
  here.tree().remove("/run/sukima/host");
  here.run(1);
  EXPECT_TRUE(std::isnan(here.load().host_cpus));
  EXPECT_NEAR(here.usable(4).usable, 4, 0.01);
}

TEST(estimate, the_hosts_file_may_be_valid_for_a_day) {
  for (const char* const valid : {"86400", "86400.5", "65536", "99999999"}) {
    world here("0-3");
    here.tree().file("/run/sukima/host",
                     std::string("sukima-host 1\nusable 1.5\nvalid ") + valid + "\nend\n");
    here.run(1);
    EXPECT_EQ(here.load().host_cpus, 1.5) << valid;
  }
  world here("0-3");
  here.tree().file("/run/sukima/host", "sukima-host 1\nusable 1.5\nvalid 86400x\nend\n");
  here.run(3);
  EXPECT_EQ(here.load().host_malformed, 1u);
}

TEST(estimate, an_explanation_before_the_first_sample_blinds_nothing) {
  const auto basis = [](bool explains) {
    world here("0-3");
    here.group("/ours", "100", "max 100000").group("/theirs", "100", "max 100000");
    here.own_thread(4711, 1, 0).uses("/theirs", 1);
    here.run(0);
    if (explains) sukima_test::report_pointer(sukima_capacity_estimator_explain(here.estimator()));
    here.run(3);
    return here.usable(4).basis;
  };
  EXPECT_NE(basis(false), SUKIMA_CAPACITY_BASIS_BLIND);
  EXPECT_EQ(basis(true), basis(false));
}

TEST(estimate, an_explanation_notices_that_fewer_groups_are_visible) {
  world here("0-3");
  here.group("/ours", "100", "max 100000").group("/ours/a", "100", "max 100000");
  here.tree().file("/proc/self/cgroup", "0::/ours/a\n");
  const auto mounted = [](const std::string& root) {
    // Because of the malformed line, an explanation looks for the groups again.
    return "malformed\n" + sukima_test::mount_line(root, "/sys/fs/cgroup", "cgroup2", "rw");
  };
  here.tree().file("/proc/self/mountinfo", mounted("/"));
  here.own_thread(4711, 1, 0).uses("/ours", 1).uses("/ours/a", 1);
  here.run(3);
  // The folder of the hierarchy now shows the process's own group, and none above it.
  here.tree().file("/proc/self/mountinfo", mounted("/ours/a"));
  sukima_test::report_pointer(sukima_capacity_estimator_explain(here.estimator()));
  here.run(3);
  EXPECT_EQ(here.usable(4).basis, SUKIMA_CAPACITY_BASIS_BLIND);
}

TEST(estimate, a_malformed_message_of_the_host_is_reported_once_in_each_report) {
  world here("0-3");
  here.group("/ours", "100", "max 100000");
  here.tree().file("/run/sukima/host", "sukima-host 1\nusable many\nvalid 3600\nend\n");
  here.run(3);
  EXPECT_EQ(here.load().host_malformed, 1u);
  EXPECT_TRUE(std::isnan(here.load().host_cpus));
  const sukima_test::report_pointer report(sukima_capacity_estimator_explain(here.estimator()));
  ASSERT_EQ(report->note_count, 1u) << sukima_test::notes_of(*report);
  EXPECT_EQ(report->facts.note_count, 1u);
  EXPECT_STREQ(report->notes[0].file, "/run/sukima/host");
  here.tree().remove("/run/sukima/host");
  here.run(2);
  EXPECT_EQ(here.load().host_malformed, 0u);
}

TEST(estimate, the_users_setting_overrides_all) {
  world here("0-3");
  here.group("/ours", "100", "max 100000");
  sukima_capacity_options options = here.tree().options();
  options.override_text = "2.5";
  const std::unique_ptr<sukima_capacity_estimator, estimator_deleter> estimator(
      sukima_capacity_estimator_open(&options));
  sukima_capacity_estimate result{};
  sukima_capacity_estimator_usable(estimator.get(), 0, &result);
  EXPECT_EQ(result.usable, 2.5);
  EXPECT_EQ(result.low, 2.5);
  EXPECT_EQ(result.basis, SUKIMA_CAPACITY_BASIS_OVERRIDE);
  sukima_capacity_estimator_usable(estimator.get(), 1, &result);
  EXPECT_EQ(result.usable, 1);
}

TEST(estimate, advises_a_program_that_blocks_often_to_measure_its_progress) {
  world here("0-1");
  here.group("/ours", "100", "max 100000").uses("/ours", 0.2).uses("", 0.2);
  here.own_thread(4711, 0.1, 0).own_thread(4712, 0.1, 0).run(1);  // 100 times a second a millisecond
  EXPECT_NEAR(here.load().slice_seconds, 0.001, 1e-5);
  EXPECT_EQ(here.usable(2).basis, SUKIMA_CAPACITY_BASIS_PROGRESS);
}

// On a busy machine, `sukima run` would otherwise report that a program blocks which it has not started yet.
TEST(estimate, the_thread_that_takes_the_samples_does_not_count_as_blocking) {
  sukima_capacity_options options{};
  options.override_text = "";
  const std::unique_ptr<sukima_capacity_estimator, estimator_deleter> self(
      sukima_capacity_estimator_open(&options));
  ASSERT_NE(self, nullptr);
  for (int i = 0; i < 50; ++i) {
    const std::clock_t begin = std::clock();
    while (std::clock() - begin < CLOCKS_PER_SEC / 4000) {
    }
    std::this_thread::sleep_for(std::chrono::microseconds(500));
    sukima_capacity_estimator_sample(self.get(), 0);
  }
  sukima_capacity_estimate result{};
  sukima_capacity_estimator_usable(self.get(), 1, &result);
  EXPECT_NE(result.basis, SUKIMA_CAPACITY_BASIS_PROGRESS);
}

// Two threads that always want CPU and get little, in short slices; the sampling thread waits for CPU, too.
TEST(estimate, short_slices_of_displaced_threads_do_not_count_as_blocking) {
  world here("0-1");
  here.group("/ours", "20", "max 100000").uses("/ours", 0.13).uses("", 2);
  here.own_thread(4711, 0.065, 0.935).own_thread(4712, 0.065, 0.935).own_thread(4713, 0.0001, 0.2);
  for (int i = 0; i < 4; i++) here.foreign_thread("", 501 + i, 0.4675, 0.5325);
  here.run(3);
  for (const int threads : {1, 2}) {
    SCOPED_TRACE(threads);
    EXPECT_NEAR(here.usable(threads).usable, 2 * 0.2 / 4.2, 0.002);
    EXPECT_EQ(here.usable(threads).basis, SUKIMA_CAPACITY_BASIS_TREE);
  }
}

// The root group does not state its use (version 1, with the controller cpuacct elsewhere), and of two
// threads in it only one has been found.
TEST(estimate, the_machines_use_counts_if_the_root_group_has_no_figures) {
  world here("0-1");
  here.group("/ours", "100", "max 100000").uses("/ours", 0.5).machine_uses(2).has_silent_root();
  // The one thread gets half a CPU for itself; with a second one it could not get a whole one more.
  here.own_thread(4711, 0.5, 0.01).foreign_thread("", 501, 0.75, 0.25).run(3);
  EXPECT_NEAR(here.usable(2).usable, 2.0 / 3, 0.02);
}

TEST(estimate, reports_its_reasons) {
  world here("0-1");
  here.group("/ours", "100", "max 100000").group("/hogs", "200", "max 100000");
  here.uses("/hogs", 1.5).uses("", 1.5).run(1);
  const sukima_test::report_pointer report(sukima_capacity_estimator_explain(here.estimator()));
  ASSERT_NE(report, nullptr);
  std::string texts;
  for (std::size_t i = 0; i < report->limit_count; i++) {
    texts +=
        std::string(sukima_capacity_kind_name(report->limits[i].kind)) + ": " + report->limits[i].text + "\n";
  }
  EXPECT_NE(texts.find("neighbour: the group 'hogs' beside its own uses 1.5 CPUs with weight 2\n"),
            std::string::npos)
      << texts;
  EXPECT_NE(texts.find("online: "), std::string::npos);
}

/// The kinds of the starred limits, and the reported cause.
std::string causes(world& here) {
  const sukima_test::report_pointer report(sukima_capacity_estimator_explain(here.estimator()));
  std::string kinds;
  for (std::size_t i = 0; i < report->limit_count; i++) {
    if (report->limits[i].is_binding != 0)
      kinds += std::string(sukima_capacity_kind_name(report->limits[i].kind)) + " ";
  }
  const sukima_capacity_estimate all = here.usable(0);
  return kinds + sukima_capacity_kind_name(sukima_capacity_estimator_cause(here.estimator(), &all));
}

TEST(cause, is_the_neighbours_beside_a_little_steal) {
  world here("0-1");
  here.group("/ours", "100", "max 100000").steals(0.033);
  for (int i = 0; i < 5; i++) {
    const std::string name = "/neighbour" + std::to_string(i);
    here.group(name, "100", "max 100000").uses(name, 1.934 / 5);
  }
  here.uses("", 1.934).run(3);
  ASSERT_NEAR(here.usable(2).usable, 0.33, 0.02);
  EXPECT_EQ(causes(here), "neighbour neighbour");
}

TEST(cause, is_steal_beside_a_little_neighbour) {
  world here("0-1");
  here.group("/ours", "100", "max 100000").group("/other", "100", "max 100000").steals(0.5);
  here.uses("/other", 0.1).uses("/ours", 0.9).uses("", 1).own_thread(4711, 0.45, 0).own_thread(4712, 0.45, 0);
  here.run(3);
  EXPECT_EQ(causes(here), "steal steal");
}

TEST(cause, is_the_host_if_it_gives_least) {
  world here("0-3");
  here.group("/ours", "100", "max 100000")
      .group("/other", "100", "max 100000")
      .uses("/other", 0.3)
      .uses("", 0.3);
  here.tree().file("/run/sukima/host", "sukima-host 1\nusable 1.5\nvalid 3600\nend\n");
  here.run(1);
  EXPECT_EQ(causes(here), "host host");
}

TEST(cause, is_a_limit_that_takes_more_than_the_neighbours_within_it) {
  world here("0-7", "0-1");
  here.group("/ours", "100", "max 100000").uses("/ours", 0.5).uses("", 0.5);
  here.foreign_thread("/ours", 501, 0.5, 0, 0, "0").run(2);
  ASSERT_LT(here.usable(2).usable, 1.9);
  EXPECT_EQ(causes(here), "affinity affinity");
}

TEST(cause, is_that_of_the_facts_where_nothing_else_takes_any) {
  world here("0-3");
  here.group("/ours", "100", "150000 100000").run(1);
  EXPECT_EQ(causes(here), "quota quota");
  world alone("0-3");
  alone.group("/ours", "100", "max 100000").run(1);
  EXPECT_EQ(causes(alone), "online online");
}

TEST(estimate, is_not_computed_if_a_quota_or_weight_cannot_be_read) {
  for (const char* file : {"cpu.max", "cpu.weight"}) {
    SCOPED_TRACE(file);
    world here("0-1");
    here.group("/ours", "100", "max 100000");
    here.tree().file(std::string("/sys/fs/cgroup/ours/") + file, "garbage\n");
    here.run(1);
    EXPECT_EQ(here.usable(2).basis, SUKIMA_CAPACITY_BASIS_BLIND);
    EXPECT_LT(here.usable(2).low, 0.1);
    here.group("/ours", "100", "max 100000").run(1);
    EXPECT_EQ(here.usable(2).basis, SUKIMA_CAPACITY_BASIS_TREE) << "it can be read now";
  }
}

TEST(group_stat, stolen_time_does_not_count_as_use) {
  const auto use = [](const std::string& text) {
    cap_group_stat stat{};
    EXPECT_TRUE(cap_parse_group_stat({text.data(), text.data() + text.size()}, &stat));
    return stat.usage_ns;
  };
  EXPECT_EQ(use("usage_usec 2000\nuser_usec 1400\nsystem_usec 100\n"), 1500000U);
  EXPECT_EQ(use("usage_usec 2000\nuser_usec 1900\nsystem_usec 100\n"), 2000000U);
  EXPECT_EQ(use("usage_usec 2000\nuser_usec 0\n"), 2000000U);
}

TEST(estimate, services_without_the_controller_share_thread_by_thread) {
  world here("0-1");
  here.tree().file("/proc/self/cgroup", "0::/slice/ours\n");
  here.group("/slice", "100", "max 100000");
  for (const std::string name : {"/slice/ours", "/slice/other"}) {
    here.group(name, "100", "max 100000");
    for (const char* file : {"/cpu.weight", "/cpu.max"}) here.tree().remove("/sys/fs/cgroup" + name + file);
  }
  here.foreign_thread("/slice/other", 501, 1, 0).uses("/slice/other", 1).uses("/slice", 1).uses("", 1).run(2);
  EXPECT_NEAR(here.usable(3).usable, 1.5, 0.01);
  EXPECT_EQ(here.usable(3).basis, SUKIMA_CAPACITY_BASIS_TREE);
}

TEST(estimate, a_report_has_each_limit_once_though_a_file_has_gone) {
  world here("0-1");
  here.group("/ours", "100", "150000 100000").run(1);
  here.tree().remove("/sys/fs/cgroup/ours/cpu.max");
  const sukima_test::report_pointer report(sukima_capacity_estimator_explain(here.estimator()));
  int online = 0;
  for (std::size_t i = 0; i < report->limit_count; i++)
    online += report->limits[i].kind == SUKIMA_CAPACITY_ONLINE ? 1 : 0;
  EXPECT_EQ(online, 1);
}

TEST(estimate, nonsense_from_the_port_does_not_hold_the_file) {
  const char* const port = "/dev/virtio-ports/org.sukima.capacity.0";
  world here("0-3");
  here.group("/ours", "100", "max 100000");
  here.tree().file(port, "").file("/run/sukima/host", "sukima-host 1\nusable 1.5\nvalid 86400\nend\n");
  here.run(1.2);
  ASSERT_EQ(here.load().host_cpus, 1.5);
  here.tree().file(port, "nonsense\nend\n");
  here.run(1.2);
  EXPECT_EQ(here.load().host_malformed, 1u);
  here.tree().remove("/run/sukima/host");
  here.run(1.2);
  EXPECT_TRUE(std::isnan(here.load().host_cpus));
  EXPECT_EQ(here.load().host_malformed, 1u);
}

TEST(estimate, the_file_counts_again_after_the_ports_message_has_expired) {
  const char* const port = "/dev/virtio-ports/org.sukima.capacity.0";
  world here("0-3");
  here.group("/ours", "100", "max 100000");
  here.tree().file(port, "").file("/run/sukima/host", "sukima-host 1\nusable 1.5\nvalid 86400\nend\n");
  here.run(1.2);
  ASSERT_EQ(here.load().host_cpus, 1.5);
  here.tree().file(port, "sukima-host 1\nusable 2.5\nvalid 2\nend\n");
  here.run(1.2);
  EXPECT_EQ(here.load().host_cpus, 2.5);
  here.run(4);
  EXPECT_EQ(here.load().host_cpus, 1.5);
}

}  // namespace
