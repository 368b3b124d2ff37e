// SPDX-License-Identifier: Apache-2.0
// Files that are malformed, truncated, huge, missing or unreadable: ignored with a note, never more.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <string>
#include <vector>

#include "recorded_tree.hpp"

namespace {

using sukima_test::mount_line;
using sukima_test::notes_of;
using sukima_test::recorded_tree;
using sukima_test::report_pointer;

const std::string nul(1, '\0');

class malformed : public testing::Test {
 protected:
  recorded_tree tree;

  void SetUp() override {
    tree.machine("0-7", "0-7").file("/proc/self/cgroup", "0::/a\n");
    tree.file("/proc/self/mountinfo", mount_line("/", "/sys/fs/cgroup", "cgroup2", "rw"));
    tree.file("/sys/fs/cgroup/cgroup.procs", "").file("/sys/fs/cgroup/a/cgroup.procs", "");
    tree.file("/sys/fs/cgroup/a/cpu.max", "150000 100000\n");
  }

  [[nodiscard]] report_pointer explain() const {
    sukima_capacity_options options = tree.options();
    return report_pointer(sukima_capacity_explain(&options));
  }

  // The file is named in a note, and the number is that without it.
  void expect_ignored(const std::string& path, double usable) {
    report_pointer report = explain();
    EXPECT_EQ(report->facts.usable, usable) << notes_of(*report);
    EXPECT_NE(notes_of(*report).find(path + ": "), std::string::npos)
        << path << " is not in: " << notes_of(*report);
    EXPECT_EQ(report->facts.note_count, report->note_count);
    EXPECT_EQ(tree.facts().note_count, report->facts.note_count);
  }
};

TEST_F(malformed, the_tree_is_right_before) {
  report_pointer report = explain();
  EXPECT_EQ(report->facts.usable, 1.5);
  EXPECT_EQ(notes_of(*report), "");
}

TEST_F(malformed, line_ends_of_other_systems_and_blanks_are_understood) {
  tree.file("/sys/fs/cgroup/a/cpu.max", "150000 100000\r\n").file("/proc/self/cgroup", "0::/a\r\n");
  tree.file("/proc/self/mountinfo", "33 31 0:29 / /sys/fs/cgroup rw shared:7 - cgroup2 cgroup rw\r\n");
  tree.file("/sys/devices/system/cpu/online", " 0-7 \r\n");
  report_pointer report = explain();
  EXPECT_EQ(report->facts.usable, 1.5);
  EXPECT_EQ(notes_of(*report), "");
}

TEST_F(malformed, last_line_without_an_end) {
  tree.file("/sys/fs/cgroup/a/cpu.max", "150000 100000").file("/proc/self/cgroup", "0::/a");
  tree.file("/proc/self/mountinfo", "33 31 0:29 / /sys/fs/cgroup rw - cgroup2 cgroup rw");
  EXPECT_EQ(tree.facts().usable, 1.5);
}

TEST_F(malformed, quotas_of_version_2) {
  const std::vector<std::string> contents = {"",
                                             "\n",
                                             "max",
                                             "100000",
                                             "abc",
                                             "-1 100000",
                                             "0 100000",
                                             "100000 0",
                                             "100000 -5",
                                             "1e5 100000",
                                             "1.5 100000",
                                             "99999999999999999999 100000",
                                             "100000 99999999999999999999",
                                             "100000 100000 x",
                                             "100000\t100000",
                                             "max100000",
                                             "maximum 100000",
                                             "100000 100000" + nul,
                                             nul + nul,
                                             "\xff\xfe",
                                             "0x100 100000",
                                             "+5 100000"};
  for (const std::string& content : contents) {
    SCOPED_TRACE(content);
    tree.file("/sys/fs/cgroup/a/cpu.max", content);
    expect_ignored("/sys/fs/cgroup/a/cpu.max", 8);
  }
}

TEST_F(malformed, quotas_of_version_1) {
  tree.file("/proc/self/cgroup", "1:cpu:/\n");
  tree.file("/proc/self/mountinfo", mount_line("/", "/cpu", "cgroup", "rw,cpu"));
  tree.file("/cpu/release_agent", "").file("/cpu/cpu.cfs_period_us", "100000\n");
  for (const char* content :
       {"", "\n", "max", "abc", "0", "-", "- 1", "-0", "1 2", "99999999999999999999", "1.5"}) {
    SCOPED_TRACE(content);
    tree.file("/cpu/cpu.cfs_quota_us", content);
    expect_ignored("/cpu/cpu.cfs_quota_us", 8);
  }
  tree.file("/cpu/cpu.cfs_quota_us", "150000\n");
  for (const char* content : {"", "0", "-1", "abc", "99999999999999999999"}) {
    SCOPED_TRACE(content);
    tree.file("/cpu/cpu.cfs_period_us", content);
    expect_ignored("/cpu/cpu.cfs_period_us", 8);
  }
  tree.remove("/cpu/cpu.cfs_period_us");
  expect_ignored("/cpu/cpu.cfs_period_us", 8);
  tree.file("/cpu/cpu.cfs_quota_us", "-1\n");  // no period is needed then
  EXPECT_EQ(tree.facts().note_count, 0u);
}

TEST_F(malformed, weights) {
  for (const char* content : {"", "-1", "abc", "100 100", "0 0"}) {
    SCOPED_TRACE(content);
    tree.file("/sys/fs/cgroup/a/cpu.weight", content);
    expect_ignored("/sys/fs/cgroup/a/cpu.weight", 1.5);
    EXPECT_EQ(tree.facts().weight, 1);
  }
}

// They are only read for reports, which must not have more notes than the facts.
TEST_F(malformed, weights_above_the_own_group) {
  tree.file("/sys/fs/cgroup/cpu.weight", "abc");
  EXPECT_EQ(explain()->note_count, 0U);
  EXPECT_EQ(tree.facts().note_count, 0U);
}

TEST_F(malformed, lists_of_cpus) {
  for (const char* content :
       {"", "\n", "0-", "-3", "3-1", "0,,1", "0,", "a", "0-3:1", "0-3:0/4", "0-3:5/4", "0-3:1/0", "0 1",
        "99999999999999999999", "0-99999999999999999999", "65536", "65536-70000"}) {
    SCOPED_TRACE(content);
    tree.file("/sys/fs/cgroup/a/cpuset.cpus.effective", content);
    expect_ignored("/sys/fs/cgroup/a/cpuset.cpus.effective", 1.5);
    EXPECT_EQ(tree.facts().cpuset, 0u);
    tree.file("/sys/devices/system/cpu/online", content);
    expect_ignored("/sys/devices/system/cpu/online", 1.5);
    EXPECT_EQ(tree.facts().cap, 8u);
    tree.machine("0-7", "0-7");
  }
}

TEST_F(malformed, a_cpuset_without_a_common_cpu_is_ignored) {
  tree.file("/sys/fs/cgroup/a/cpuset.cpus.effective", "20-23\n");
  report_pointer report = explain();
  EXPECT_EQ(report->facts.cap, 8u);
  EXPECT_NE(notes_of(*report).find("no CPU in common"), std::string::npos) << notes_of(*report);
}

TEST_F(malformed, a_cpu_number_beyond_all_machines_counts_as_far_as_the_limit) {
  tree.file("/sys/fs/cgroup/a/cpuset.cpus.effective", "0-3,70000-4000000000\n");
  EXPECT_EQ(tree.facts().cpuset, 4u);
}

TEST_F(malformed, status_and_stat) {
  tree.file("/proc/self/status", "Name:\tx\n");
  expect_ignored("/proc/self/status", 1.5);
  tree.file("/proc/self/status", "Cpus_allowed_list:\tx-y\n");
  expect_ignored("/proc/self/status", 1.5);
  EXPECT_EQ(tree.facts().affinity, 0u);
  EXPECT_EQ(tree.facts().cap, 8u);
  tree.machine("0-7", "0-7");
  for (const char* content : {"", "x", "1 (a", "1 (a)", "1 (a) R 1 2 3", "(a) R"}) {
    SCOPED_TRACE(content);
    tree.file("/proc/self/stat", content);
    expect_ignored("/proc/self/stat", 1.5);
  }
}

TEST_F(malformed, groups_and_mounts) {
  for (const char* content : {"", "0::", "0::\n", "0:/a\n", "garbage\n", "::/a\n", "0::a\n", "x::/a\n"}) {
    SCOPED_TRACE(content);
    tree.file("/proc/self/cgroup", content);
    EXPECT_EQ(tree.facts().usable, 8);
  }
  tree.file("/proc/self/cgroup", "garbage\n0::/a\n");
  expect_ignored("/proc/self/cgroup", 1.5);
  tree.file("/proc/self/mountinfo",
            "33 31 0:29 / /x rw\n\n- - -\n" + mount_line("/", "/sys/fs/cgroup", "cgroup2", "rw"));
  expect_ignored("/proc/self/mountinfo", 1.5);
  tree.file("/proc/self/mountinfo", "33 31 0:29 a b rw - cgroup2 cgroup rw\n");
  EXPECT_EQ(tree.facts().usable, 8);
}

TEST_F(malformed, every_file_may_be_missing) {
  for (const char* path :
       {"/proc/self/cgroup", "/proc/self/mountinfo", "/proc/self/status", "/sys/devices/system/cpu/online"}) {
    SCOPED_TRACE(path);
    recorded_tree other;
    other.machine("0-7", "0-7").file("/proc/self/cgroup", "0::/\n").file("/proc/self/mountinfo", "");
    other.remove(path);
    sukima_capacity_options options = other.options();
    report_pointer report(sukima_capacity_explain(&options));
    EXPECT_EQ(report->facts.usable, 8);
    EXPECT_NE(notes_of(*report).find(std::string(path) + ": does not exist"), std::string::npos)
        << notes_of(*report);
  }
}

TEST_F(malformed, huge_files_are_ignored) {
  tree.file("/sys/fs/cgroup/a/cpu.max", std::string(1 << 20, '1') + " 100000\n");
  expect_ignored("/sys/fs/cgroup/a/cpu.max", 8);
  tree.file("/sys/fs/cgroup/a/cpu.max", std::string(1 << 20, ' '));
  expect_ignored("/sys/fs/cgroup/a/cpu.max", 8);
}

TEST_F(malformed, folders_loops_and_pipes_instead_of_files) {
  const std::string path = tree.root() + "/sys/fs/cgroup/a/cpu.max";
  tree.remove("/sys/fs/cgroup/a/cpu.max").folder("/sys/fs/cgroup/a/cpu.max");
  expect_ignored("/sys/fs/cgroup/a/cpu.max", 8);
  tree.remove("/sys/fs/cgroup/a/cpu.max");
  ASSERT_EQ(symlink("cpu.max", path.c_str()), 0);
  expect_ignored("/sys/fs/cgroup/a/cpu.max", 8);
  tree.remove("/sys/fs/cgroup/a/cpu.max");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  expect_ignored("/sys/fs/cgroup/a/cpu.max", 8);
}

TEST_F(malformed, files_that_may_not_be_read) {
  ASSERT_EQ(chmod((tree.root() + "/sys/fs/cgroup/a/cpu.max").c_str(), 0), 0);
  ASSERT_EQ(chmod(tree.root().c_str(), 0755), 0);
  const bool is_root = geteuid() == 0;  // root may read every file
  const uid_t without_rights = 65534;
  ASSERT_EQ(is_root ? seteuid(without_rights) : 0, 0);
  expect_ignored("/sys/fs/cgroup/a/cpu.max", 8);
  EXPECT_NE(notes_of(*explain()).find("permission denied"), std::string::npos);
  ASSERT_EQ(is_root ? seteuid(0) : 0, 0);
}

TEST_F(malformed, a_root_that_is_too_long) {
  const std::string root(5000, 'x');
  sukima_capacity_options options{};
  options.root = root.c_str();
  sukima_capacity_facts facts{};
  EXPECT_EQ(sukima_capacity_read(&options, &facts), ENAMETOOLONG);
  EXPECT_EQ(facts.usable, 1);
  EXPECT_EQ(facts.cap, 1u);
  EXPECT_TRUE(std::isinf(facts.quota));
  EXPECT_EQ(sukima_capacity_open(&options), nullptr);
  EXPECT_EQ(sukima_capacity_explain(&options), nullptr);
}

}  // namespace
