// SPDX-License-Identifier: Apache-2.0
// The facts on recorded trees: plain host, containers with and without a namespace, version 1, version 2,
// hybrid.
#include <gtest/gtest.h>

#include <cmath>

#include "recorded_tree.hpp"

namespace {

using sukima_test::binding_of;
using sukima_test::files_of;
using sukima_test::mount_line;
using sukima_test::notes_of;
using sukima_test::recorded_tree;
using sukima_test::report_pointer;

report_pointer explain(const recorded_tree& tree) {
  sukima_capacity_options options = tree.options();
  return report_pointer(sukima_capacity_explain(&options));
}

std::string v2_mount(std::string_view root = "/") {
  return mount_line(root, "/sys/fs/cgroup", "cgroup2", "rw");
}

// A version 2 group as the kernel shows it when the controllers cpu and cpuset are enabled for it.
void v2_group(recorded_tree& tree, const std::string& path, const std::string& quota,
              const std::string& weight = "100", const std::string& cpus = "") {
  tree.file(path + "/cgroup.procs", "").file(path + "/cgroup.events", "populated 1\n");
  tree.file(path + "/cpu.max", quota + "\n").file(path + "/cpu.weight", weight + "\n");
  if (!cpus.empty()) tree.file(path + "/cpuset.cpus.effective", cpus + "\n");
}

void v1_group(recorded_tree& tree, const std::string& path, const std::string& quota,
              const std::string& period, const std::string& shares = "1024") {
  tree.file(path + "/cgroup.procs", "").file(path + "/cpu.cfs_quota_us", quota + "\n");
  tree.file(path + "/cpu.cfs_period_us", period + "\n").file(path + "/cpu.shares", shares + "\n");
}

TEST(facts, plain_host_of_version_2) {
  recorded_tree tree;
  tree.machine("0-7", "0-7").file("/proc/self/cgroup", "0::/user.slice/session-1.scope\n");
  tree.file("/proc/self/mountinfo", v2_mount()).file("/sys/fs/cgroup/cgroup.procs", "");
  v2_group(tree, "/sys/fs/cgroup/user.slice", "max 100000");
  v2_group(tree, "/sys/fs/cgroup/user.slice/session-1.scope", "max 100000");
  sukima_capacity_facts facts = tree.facts();
  EXPECT_EQ(facts.usable, 8);
  EXPECT_EQ(facts.cap, 8u);
  EXPECT_EQ(facts.online, 8u);
  EXPECT_EQ(facts.affinity, 8u);
  EXPECT_EQ(facts.cpuset, 0u);
  EXPECT_TRUE(std::isinf(facts.quota));
  EXPECT_EQ(facts.quota_period_us, 0u);
  EXPECT_EQ(facts.weight, 1);
  EXPECT_EQ(facts.binding, SUKIMA_CAPACITY_ONLINE);
  EXPECT_EQ(facts.ancestors_hidden, 0u);
  EXPECT_EQ(facts.note_count, 0u);
  EXPECT_EQ(facts.generation, 1u);
}

TEST(facts, version_2_container_with_private_namespace) {
  recorded_tree tree;
  tree.machine("0-15", "0-15").file("/proc/self/cgroup", "0::/\n").file("/proc/self/mountinfo", v2_mount());
  v2_group(tree, "/sys/fs/cgroup", "140000 100000", "79", "0-15");
  report_pointer report = explain(tree);
  EXPECT_EQ(report->facts.usable, 1.4);
  EXPECT_EQ(report->facts.cap, 16u);
  EXPECT_EQ(report->facts.quota_period_us, 100000u);
  EXPECT_EQ(report->facts.weight, 0.79);
  EXPECT_EQ(report->facts.ancestors_hidden, 1u);
  EXPECT_EQ(binding_of(*report).file, tree.root() + "/sys/fs/cgroup/cpu.max");
  EXPECT_STREQ(binding_of(*report).text,
               "the process's own group may use 140000 us of CPU time every 100000 us: 1.4 CPUs");
  EXPECT_EQ(notes_of(*report), "");
}

TEST(facts, a_quota_shows_how_often_it_held_the_group_back) {
  recorded_tree tree;
  tree.machine("0-15", "0-15").file("/proc/self/cgroup", "0::/\n").file("/proc/self/mountinfo", v2_mount());
  v2_group(tree, "/sys/fs/cgroup", "140000 100000", "79", "0-15");
  tree.file("/sys/fs/cgroup/cpu.stat", "usage_usec 5\nnr_periods 4000\nnr_throttled 120\nthrottled_usec 7\n");
  EXPECT_EQ(binding_of(*explain(tree)).periods, 4000u);
  EXPECT_EQ(binding_of(*explain(tree)).throttled_periods, 120u);
  EXPECT_EQ(binding_of(*explain(tree)).file, tree.root() + "/sys/fs/cgroup/cpu.max");
  tree.file("/sys/fs/cgroup/cpu.stat", "nr_periods 4\nnr_throttled 5\n");
  EXPECT_EQ(binding_of(*explain(tree)).periods, 0u) << "that cannot be";
  tree.file("/sys/fs/cgroup/cpu.stat", "nr_periods many\n");
  EXPECT_EQ(binding_of(*explain(tree)).periods, 0u);
}

TEST(facts, quota_of_a_grandparent) {
  recorded_tree tree;
  tree.machine("0-7", "0-7")
      .file("/proc/self/cgroup", "0::/a/b/c\n")
      .file("/proc/self/mountinfo", v2_mount());
  tree.file("/sys/fs/cgroup/cgroup.procs", "");
  v2_group(tree, "/sys/fs/cgroup/a", "250000 200000");
  v2_group(tree, "/sys/fs/cgroup/a/b", "max 100000", "50");
  tree.folder("/sys/fs/cgroup/a/b/c");  // no controller enabled
  report_pointer report = explain(tree);
  EXPECT_EQ(report->facts.usable, 1.25);
  EXPECT_EQ(report->facts.quota_period_us, 200000u);
  EXPECT_EQ(binding_of(*report).level, 2u);
  EXPECT_EQ(binding_of(*report).period_us, 200000u);
  EXPECT_EQ(binding_of(*report).file, tree.root() + "/sys/fs/cgroup/a/cpu.max");
  EXPECT_EQ(files_of(*report, SUKIMA_CAPACITY_QUOTA),
            tree.root() + "/sys/fs/cgroup/a/b/cpu.max\n" + tree.root() + "/sys/fs/cgroup/a/cpu.max\n");
  EXPECT_EQ(files_of(*report, SUKIMA_CAPACITY_WEIGHT),
            tree.root() + "/sys/fs/cgroup/a/b/cpu.weight\n" + tree.root() + "/sys/fs/cgroup/a/cpu.weight\n");
  EXPECT_EQ(report->facts.ancestors_hidden, 0u);
}

TEST(facts, the_smallest_of_several_quotas_decides) {
  recorded_tree tree;
  tree.machine("0-7", "0-7")
      .file("/proc/self/cgroup", "0::/a/b/c\n")
      .file("/proc/self/mountinfo", v2_mount());
  v2_group(tree, "/sys/fs/cgroup/a", "300000 100000");
  v2_group(tree, "/sys/fs/cgroup/a/b", "60000 50000");
  v2_group(tree, "/sys/fs/cgroup/a/b/c", "400000 100000");
  EXPECT_EQ(tree.facts().usable, 1.2);
  EXPECT_EQ(tree.facts().quota_period_us, 50000u);
}

TEST(facts, quota_below_one_cpu) {
  recorded_tree tree;
  tree.machine("0", "0").file("/proc/self/cgroup", "0::/\n").file("/proc/self/mountinfo", v2_mount());
  v2_group(tree, "/sys/fs/cgroup", "25000 100000");
  EXPECT_EQ(tree.facts().usable, 0.25);
  EXPECT_EQ(tree.facts().cap, 1u);
  EXPECT_EQ(sukima_capacity_threads(tree.facts().usable, nullptr), 1u);
}

TEST(facts, quota_above_the_cpus_does_not_bind) {
  recorded_tree tree;
  tree.machine("0-3", "0-3").file("/proc/self/cgroup", "0::/\n").file("/proc/self/mountinfo", v2_mount());
  v2_group(tree, "/sys/fs/cgroup", "900000 100000");
  EXPECT_EQ(tree.facts().usable, 4);
  EXPECT_EQ(tree.facts().quota, 9);
  EXPECT_EQ(tree.facts().binding, SUKIMA_CAPACITY_ONLINE);
}

// Docker without a cgroup namespace: the paths are those of the host, the mounts show the container's group
// only.
TEST(facts, version_1_docker) {
  recorded_tree tree;
  tree.machine("0-63", "0-63");
  tree.file(
      "/proc/self/cgroup",
      "12:cpuset:/docker/abc\n5:cpu,cpuacct:/docker/abc\n1:name=systemd:/docker/abc\n0::/system.slice/x\n");
  tree.file("/proc/self/mountinfo",
            "1 0 0:30 / / rw - overlay overlay rw,lowerdir=/a:/b\n" +
                mount_line("/docker/abc", "/sys/fs/cgroup/cpuset", "cgroup", "rw,cpuset") +
                mount_line("/docker/abc", "/sys/fs/cgroup/cpu,cpuacct", "cgroup", "rw,cpuacct,cpu") +
                mount_line("/docker/abc", "/sys/fs/cgroup/systemd", "cgroup", "rw,xattr,name=systemd"));
  v1_group(tree, "/sys/fs/cgroup/cpu,cpuacct", "250000", "100000", "512");
  tree.file("/sys/fs/cgroup/cpuset/cgroup.procs", "").file("/sys/fs/cgroup/cpuset/cpuset.cpus", "0-31\n");
  report_pointer report = explain(tree);
  EXPECT_EQ(report->facts.usable, 2.5);
  EXPECT_EQ(report->facts.cap, 32u);
  EXPECT_EQ(report->facts.cpuset, 32u);
  EXPECT_EQ(report->facts.weight, 0.5);
  EXPECT_EQ(report->facts.ancestors_hidden, 1u);
  EXPECT_EQ(binding_of(*report).file, tree.root() + "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us");
  EXPECT_EQ(notes_of(*report), "");
}

TEST(facts, version_1_nested_groups) {
  recorded_tree tree;
  tree.machine("0-7", "0-7").file("/proc/self/cgroup", "4:cpu:/a/b\n");
  tree.file("/proc/self/mountinfo", mount_line("/", "/cgroup/cpu", "cgroup", "rw,cpu"));
  tree.file("/cgroup/cpu/release_agent", "");
  v1_group(tree, "/cgroup/cpu", "-1", "100000");
  v1_group(tree, "/cgroup/cpu/a", "75000", "50000");
  v1_group(tree, "/cgroup/cpu/a/b", "-1", "100000");
  EXPECT_EQ(tree.facts().usable, 1.5);
  EXPECT_EQ(tree.facts().quota_period_us, 50000u);
  EXPECT_EQ(tree.facts().ancestors_hidden, 0u);
}

// Controllers in version 1, each mounted alone, beside a version 2 hierarchy that has none of them.
TEST(facts, hybrid) {
  recorded_tree tree;
  tree.machine("0-1", "0-1");
  tree.file(
      "/proc/self/cgroup",
      "9:name=systemd:/\n8:pids:/\n4:memory:/box/1cfce51b\n3:cpuset:/\n2:cpuacct:/\n1:cpu:/box\n0::/box\n");
  tree.file("/proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n" +
                                        mount_line("/", "/sys/fs/cgroup/cpu", "cgroup", "rw,cpu") +
                                        mount_line("/", "/sys/fs/cgroup/cpuacct", "cgroup", "rw,cpuacct") +
                                        mount_line("/", "/sys/fs/cgroup/cpuset", "cgroup", "rw,cpuset") +
                                        mount_line("/", "/sys/fs/cgroup/unified", "cgroup2", "rw"));
  tree.file("/sys/fs/cgroup/cpu/release_agent", "").file("/sys/fs/cgroup/cpuset/release_agent", "");
  v1_group(tree, "/sys/fs/cgroup/cpu", "-1", "100000");
  v1_group(tree, "/sys/fs/cgroup/cpu/box", "150000", "100000");
  tree.file("/sys/fs/cgroup/cpuset/cgroup.procs", "")
      .file("/sys/fs/cgroup/cpuset/cpuset.effective_cpus", "0-1\n");
  tree.file("/sys/fs/cgroup/unified/box/cgroup.procs", "")
      .file("/sys/fs/cgroup/unified/box/cpu.pressure", "");
  report_pointer report = explain(tree);
  EXPECT_EQ(report->facts.usable, 1.5);
  EXPECT_EQ(report->facts.cpuset, 2u);
  EXPECT_EQ(report->facts.ancestors_hidden, 0u);
  EXPECT_EQ(notes_of(*report), "");
}

TEST(facts, cpuset_narrower_than_affinity) {
  recorded_tree tree;
  tree.machine("0-7", "0-7").file("/proc/self/cgroup", "0::/a/b\n").file("/proc/self/mountinfo", v2_mount());
  v2_group(tree, "/sys/fs/cgroup/a", "max 100000", "100", "2-4");
  tree.folder("/sys/fs/cgroup/a/b");  // without the controller: the group above decides
  report_pointer report = explain(tree);
  EXPECT_EQ(report->facts.usable, 3);
  EXPECT_EQ(report->facts.cap, 3u);
  EXPECT_EQ(report->facts.binding, SUKIMA_CAPACITY_CPUSET);
  EXPECT_EQ(binding_of(*report).file, tree.root() + "/sys/fs/cgroup/a/cpuset.cpus.effective");
}

TEST(facts, affinity_and_cpuset_overlap_partly) {
  recorded_tree tree;
  tree.machine("0-7", "0-4").file("/proc/self/cgroup", "0::/\n").file("/proc/self/mountinfo", v2_mount());
  v2_group(tree, "/sys/fs/cgroup", "max 100000", "100", "3-7");
  EXPECT_EQ(tree.facts().cap, 2u);
  EXPECT_EQ(tree.facts().affinity, 5u);
  EXPECT_EQ(tree.facts().cpuset, 5u);
  EXPECT_EQ(tree.facts().binding, SUKIMA_CAPACITY_AFFINITY);
}

TEST(facts, affinity_names_cpus_that_are_switched_off) {
  recorded_tree tree;
  tree.machine("0,2-3", "0-127");
  EXPECT_EQ(tree.facts().cap, 3u);
  EXPECT_EQ(tree.facts().affinity, 3u);
}

TEST(facts, two_thousand_cpus) {
  recorded_tree tree;
  tree.machine("0-1999", "0-1999")
      .file("/proc/self/cgroup", "0::/\n")
      .file("/proc/self/mountinfo", v2_mount());
  std::string even;
  for (int cpu = 0; cpu < 2000; cpu += 2) even += std::to_string(cpu) + ",";
  even.pop_back();
  v2_group(tree, "/sys/fs/cgroup", "99950000 100000", "100", even);
  EXPECT_EQ(tree.facts().online, 2000u);
  EXPECT_EQ(tree.facts().cpuset, 1000u);
  EXPECT_EQ(tree.facts().cap, 1000u);
  EXPECT_EQ(tree.facts().usable, 999.5);
}

TEST(facts, real_time_process_is_not_held_back_by_quotas) {
  recorded_tree tree;
  tree.machine("0-3", "0-3").file("/proc/self/cgroup", "0::/\n").file("/proc/self/mountinfo", v2_mount());
  v2_group(tree, "/sys/fs/cgroup", "50000 100000");
  tree.file("/proc/self/stat",
            "4711 (rt) R 1 4711 4711 34816 4711 4194304 1 2 3 4 5 6 7 8 -51 0 1 0 99 1000000 200 "
            "18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 50 1 0 0 0 0 0 0 0 0 0 0 0\n");
  report_pointer report = explain(tree);
  EXPECT_EQ(report->facts.usable, 4);
  EXPECT_EQ(files_of(*report, SUKIMA_CAPACITY_QUOTA), tree.root() + "/sys/fs/cgroup/cpu.max\n");
  EXPECT_NE(notes_of(*report).find("real-time"), std::string::npos);
}

TEST(facts, nothing_at_all_gives_one_cpu) {
  recorded_tree tree;
  EXPECT_EQ(tree.facts().usable, 1);
  EXPECT_EQ(tree.facts().cap, 1u);
  EXPECT_GT(tree.facts().note_count, 0u);
}

}  // namespace
