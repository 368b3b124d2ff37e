// SPDX-License-Identifier: Apache-2.0
// Finding the process's groups: namespaces, bind mounts, hidden mounts, odd names.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "recorded_tree.hpp"

namespace {

using sukima_test::binding_of;
using sukima_test::mount_line;
using sukima_test::notes_of;
using sukima_test::recorded_tree;
using sukima_test::report_pointer;

class discovery : public testing::Test {
 protected:
  recorded_tree tree;

  void SetUp() override { tree.machine("0-7", "0-7"); }

  void groups(const std::string& lines) { tree.file("/proc/self/cgroup", lines); }
  void mounts(const std::string& lines) { tree.file("/proc/self/mountinfo", lines); }

  void quota(const std::string& folder, const std::string& text) {
    tree.file(folder + "/cgroup.procs", "").file(folder + "/cpu.max", text + "\n");
  }

  [[nodiscard]] report_pointer explain() const {
    sukima_capacity_options options = tree.options();
    return report_pointer(sukima_capacity_explain(&options));
  }
};

TEST_F(discovery, bind_mount_of_an_ancestor_shows_the_groups_from_there) {
  groups("0::/kubepods/pod1/box\n");
  mounts(mount_line("/kubepods", "/sys/fs/cgroup", "cgroup2", "rw"));
  quota("/sys/fs/cgroup", "600000 100000");
  quota("/sys/fs/cgroup/pod1", "200000 100000");
  quota("/sys/fs/cgroup/pod1/box", "max 100000");
  report_pointer report = explain();
  EXPECT_EQ(report->facts.usable, 2);
  EXPECT_EQ(binding_of(*report).level, 1u);
  EXPECT_EQ(report->facts.ancestors_hidden, 1u);
}

TEST_F(discovery, a_group_whose_name_only_starts_like_the_mounts_root_is_another_one) {
  groups("0::/docker/abcd\n");
  mounts(mount_line("/docker/abc", "/sys/fs/cgroup", "cgroup2", "rw"));
  quota("/sys/fs/cgroup", "50000 100000");
  report_pointer report = explain();
  EXPECT_EQ(report->facts.usable, 8);
  EXPECT_EQ(report->facts.ancestors_hidden, 1u);
  EXPECT_NE(notes_of(*report).find("has no mount that shows the process's group"), std::string::npos)
      << notes_of(*report);
}

TEST_F(discovery, the_mount_that_shows_most_ancestors_is_taken_whatever_the_order) {
  const std::string all = mount_line("/", "/host/cgroup", "cgroup2", "rw");
  const std::string some = mount_line("/a", "/sys/fs/cgroup", "cgroup2", "rw");
  groups("0::/a/b\n");
  quota("/host/cgroup/a", "100000 100000");
  quota("/host/cgroup/a/b", "max 100000");
  quota("/sys/fs/cgroup/b", "max 100000");
  quota("/sys/fs/cgroup", "100000 100000");
  for (const std::string& lines : {all + some, some + all}) {
    mounts(lines);
    report_pointer report = explain();
    EXPECT_EQ(report->facts.usable, 1);
    EXPECT_EQ(binding_of(*report).file, tree.root() + "/host/cgroup/a/cpu.max");
  }
}

TEST_F(discovery, a_mount_that_shows_nothing_of_the_group_does_not_hide_one_that_does) {
  groups("0::/a\n");
  mounts(mount_line("/", "/gone", "cgroup2", "rw") + mount_line("/a", "/sys/fs/cgroup", "cgroup2", "rw"));
  quota("/sys/fs/cgroup", "150000 100000");
  EXPECT_EQ(tree.facts().usable, 1.5);
}

TEST_F(discovery, a_later_mount_at_the_same_place_hides_the_earlier_one) {
  groups("0::/a\n");
  mounts(mount_line("/", "/sys/fs/cgroup", "cgroup2", "rw") +
         mount_line("/a", "/sys/fs/cgroup", "cgroup2", "rw"));
  quota("/sys/fs/cgroup", "150000 100000");
  // It looks like a child of the group: with the first mount alone it would be read.
  quota("/sys/fs/cgroup/a", "50000 100000");
  EXPECT_EQ(tree.facts().usable, 1.5);
}

// The mount was made outside: it starts two levels above the namespace's root, and the names are hidden.
TEST_F(discovery, private_namespace_with_the_hosts_mount) {
  groups("0::/mine\n");
  mounts(mount_line("/../..", "/sys/fs/cgroup", "cgroup2", "rw"));
  quota("/sys/fs/cgroup", "700000 100000");
  quota("/sys/fs/cgroup/pods", "300000 100000");
  for (const char* name : {"a", "b", "c", "d"}) {
    quota("/sys/fs/cgroup/pods/" + std::string(name), "40000 100000");
    quota("/sys/fs/cgroup/pods/" + std::string(name) + "/mine", "50000 100000");
    quota("/sys/fs/cgroup/other/" + std::string(name) + "/mine", "50000 100000");
  }
  quota("/sys/fs/cgroup/pods/c", "200000 100000");
  quota("/sys/fs/cgroup/pods/c/mine", "max 100000");
  tree.file("/sys/fs/cgroup/pods/c/mine/cgroup.procs", "1\n4711\n");
  report_pointer report = explain();
  EXPECT_EQ(report->facts.usable, 2);
  EXPECT_EQ(binding_of(*report).level, 1u);
  EXPECT_EQ(binding_of(*report).file, tree.root() + "/sys/fs/cgroup/pods/c/cpu.max");
  EXPECT_EQ(report->facts.ancestors_hidden, 0u);
  EXPECT_EQ(notes_of(*report), "");
}

TEST_F(discovery, a_group_that_is_not_below_the_hosts_mount_is_not_guessed) {
  groups("0::/mine\n");
  mounts(mount_line("/../..", "/sys/fs/cgroup", "cgroup2", "rw"));
  quota("/sys/fs/cgroup", "300000 100000");
  quota("/sys/fs/cgroup/a/b/mine", "50000 100000");
  report_pointer report = explain();
  EXPECT_EQ(report->facts.usable, 3);
  EXPECT_EQ(binding_of(*report).level, 3u);
  EXPECT_EQ(report->facts.ancestors_hidden, 1u);
  EXPECT_NE(notes_of(*report).find("no group between them was found"), std::string::npos)
      << notes_of(*report);
}

TEST_F(discovery, a_mount_from_above_the_namespace_is_better_than_its_own) {
  const std::string own = mount_line("/", "/sys/fs/cgroup", "cgroup2", "rw");
  const std::string above = mount_line("/..", "/host", "cgroup2", "rw");
  groups("0::/\n");
  quota("/sys/fs/cgroup", "max 100000");
  quota("/host", "130000 100000");
  quota("/host/me", "max 100000");
  tree.file("/host/me/cgroup.procs", "4711\n");
  for (const std::string& lines : {own + above, above + own}) {
    mounts(lines);
    EXPECT_EQ(tree.facts().usable, 1.3);
  }
  tree.file("/host/me/cgroup.procs", "");
  EXPECT_EQ(tree.facts().usable, 8);
}

TEST_F(discovery, a_mount_from_above_the_namespace_and_a_process_beside_it) {
  groups("0::/../sister/x\n");
  mounts(mount_line("/..", "/sys/fs/cgroup", "cgroup2", "rw"));
  quota("/sys/fs/cgroup/sister", "120000 100000");
  quota("/sys/fs/cgroup/sister/x", "max 100000");
  EXPECT_EQ(tree.facts().usable, 1.2);
}

TEST_F(discovery, a_process_outside_the_visible_namespace) {
  groups("0::/../sister\n");
  mounts(mount_line("/", "/sys/fs/cgroup", "cgroup2", "rw"));
  quota("/sys/fs/cgroup", "10000 100000");
  quota("/sister", "10000 100000");  // what a careless join of the paths would find
  report_pointer report = explain();
  EXPECT_EQ(report->facts.usable, 8);
  EXPECT_EQ(report->facts.ancestors_hidden, 1u);
}

TEST_F(discovery, paths_that_do_not_fit_but_the_process_is_listed) {
  groups("4:cpu:/kubepods/pod7/box\n");
  mounts(mount_line("/ecs/task", "/sys/fs/cgroup/cpu", "cgroup", "rw,cpu"));
  tree.file("/sys/fs/cgroup/cpu/cgroup.procs", "12\n4711\n")
      .file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "130000\n");
  tree.file("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(tree.facts().usable, 1.3);
  tree.file("/sys/fs/cgroup/cpu/cgroup.procs", "12\n47110\n");
  EXPECT_EQ(tree.facts().usable, 8);
}

TEST_F(discovery, escaped_blanks_and_backslashes_in_paths) {
  groups("0::/my group\\x\n");
  mounts(mount_line("/", "/mnt/a\\040b\\134c", "cgroup2", "rw"));
  quota("/mnt/a b\\c/my group\\x", "70000 100000");
  EXPECT_EQ(tree.facts().usable, 0.7);
}

TEST_F(discovery, colons_in_names_and_groups_that_were_removed) {
  groups("0::/a:b/c (deleted)\n");
  mounts(mount_line("/", "/sys/fs/cgroup", "cgroup2", "rw"));
  quota("/sys/fs/cgroup/a:b", "70000 100000");
  tree.folder("/sys/fs/cgroup/a:b/c");
  EXPECT_EQ(tree.facts().usable, 0.7);
}

TEST_F(discovery, other_kinds_of_mounts_are_skipped) {
  groups("0::/\n");
  mounts(
      "700 31 0:4 net:[4026531840] /run/netns/x rw shared:4 - nsfs nsfs rw\n"
      "701 31 0:5 / / rw - overlay overlay rw,lowerdir=" +
      std::string(100000, 'x') +
      "\n"
      "702 31 0:6 / /x rw master:1 propagate_from:2 unbindable - tmpfs tmpfs rw\n"
      "703 31 0:29 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n");
  quota("/sys/fs/cgroup", "70000 100000");
  report_pointer report = explain();
  EXPECT_EQ(report->facts.usable, 0.7);
  EXPECT_NE(notes_of(*report).find("too long"), std::string::npos);
}

TEST_F(discovery, a_named_hierarchy_is_not_a_controller) {
  groups("5:name=cpu:/a\n4:cpu,cpuacct:/b\n");
  mounts(mount_line("/", "/named", "cgroup", "rw,name=cpu") +
         mount_line("/", "/cgroup", "cgroup", "rw,cpuacct,cpu"));
  tree.file("/named/a/cpu.cfs_quota_us", "10000\n").file("/named/a/cpu.cfs_period_us", "100000\n");
  tree.file("/cgroup/b/cpu.cfs_quota_us", "110000\n").file("/cgroup/b/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(tree.facts().usable, 1.1);
}

TEST_F(discovery, files_above_the_mount_are_not_read) {
  groups("0::/a\n");
  mounts(mount_line("/", "/sys/fs/cgroup", "cgroup2", "rw"));
  quota("/sys/fs/cgroup/a", "90000 100000");
  for (const char* folder : {"", "/sys", "/sys/fs"}) quota(folder, "10000 100000");
  EXPECT_EQ(tree.facts().usable, 0.9);
}

TEST_F(discovery, a_mount_at_the_root_of_the_file_system) {
  groups("0::/a\n");
  mounts(mount_line("/", "/", "cgroup2", "rw"));
  quota("/a", "90000 100000");
  EXPECT_EQ(tree.facts().usable, 0.9);
}

TEST_F(discovery, fifty_levels) {
  std::string path;
  for (int level = 0; level < 50; level++) path += "/level" + std::to_string(level);
  groups("0::" + path + "\n");
  mounts(mount_line("/", "/sys/fs/cgroup", "cgroup2", "rw"));
  quota("/sys/fs/cgroup" + path, "max 100000");
  quota("/sys/fs/cgroup/level0", "450000 100000");
  report_pointer report = explain();
  EXPECT_EQ(report->facts.usable, 4.5);
  EXPECT_EQ(binding_of(*report).level, 49u);
}

TEST_F(discovery, paths_longer_than_the_kernel_opens_are_noted) {
  std::string path;
  for (int level = 0; level < 400; level++) path += "/level" + std::to_string(1000000 + level);
  groups("0::" + path + "\n");
  mounts(mount_line("/", "/sys/fs/cgroup", "cgroup2", "rw"));
  tree.folder("/sys/fs/cgroup");
  report_pointer report = explain();
  EXPECT_EQ(report->facts.usable, 8);
  EXPECT_NE(notes_of(*report).find("too long"), std::string::npos) << notes_of(*report);
}

TEST_F(discovery, another_process) {
  groups("0::/mine\n");
  tree.file("/proc/99/cgroup", "0::/theirs\n").file("/proc/99/status", "Cpus_allowed_list:\t1-3\n");
  mounts(mount_line("/", "/sys/fs/cgroup", "cgroup2", "rw"));
  quota("/sys/fs/cgroup/mine", "100000 100000");
  quota("/sys/fs/cgroup/theirs", "250000 100000");
  sukima_capacity_options options = tree.options();
  options.pid = 99;
  sukima_capacity_facts facts{};
  ASSERT_EQ(sukima_capacity_read(&options, &facts), 0);
  EXPECT_EQ(facts.usable, 2.5);
  EXPECT_EQ(facts.affinity, 3u);
}

TEST_F(discovery, another_file_system_at_the_same_place_hides_the_mount) {
  groups("0::/\n");
  tree.folder("/sys/fs/cgroup");
  mounts(mount_line("/", "/sys/fs/cgroup", "cgroup2", "rw") +
         mount_line("/", "/sys/fs/cgroup", "tmpfs", "ro"));
  report_pointer report = explain();
  EXPECT_EQ(report->facts.ancestors_hidden, 1u);
  EXPECT_NE(notes_of(*report).find("has no mount that shows the process's group"), std::string::npos)
      << notes_of(*report);
}

/// The groups 0::/a/b/c, all visible, without quotas, and mounts that hide some of them.
class covered : public discovery {
 protected:
  void SetUp() override {
    discovery::SetUp();
    groups("0::/a/b/c\n");
    for (const char* group : {"", "/a", "/a/b", "/a/b/c"})
      quota("/sys/fs/cgroup" + std::string(group), "max 100000");
  }

  /// \param cover  a line of mountinfo: the number of the hierarchy's mount is 30, and that of its parent 20
  [[nodiscard]] bool hides(const std::string& cover) {
    mounts(
        "10 1 8:1 / / rw - ext4 disk rw\n20 10 0:20 / /sys rw - sysfs sysfs rw\n"
        "30 20 0:29 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n" +
        cover);
    report_pointer report = explain();
    const bool is_noted =
        notes_of(*report).find("has a mount that hides control groups") != std::string::npos;
    const bool is_hidden = report->facts.ancestors_hidden != 0;
    EXPECT_EQ(is_noted, is_hidden) << cover << notes_of(*report);
    return is_hidden;
  }
};

TEST_F(covered, a_file_system_over_a_group_hides_it) {
  EXPECT_FALSE(hides(""));
  for (const char* place : {"/a", "/a/b", "/a/b/c", "/a/cpu.max", "/a/b/c/cpu.max", "/cpu.max"}) {
    const std::string at = "/sys/fs/cgroup" + std::string(place);
    EXPECT_TRUE(hides("40 30 0:40 / " + at + " rw - tmpfs tmpfs rw\n")) << place;
    EXPECT_TRUE(hides("40 30 0:29 /other " + at + " rw - cgroup2 cgroup2 rw\n")) << place;
  }
}

TEST_F(covered, a_file_system_elsewhere_hides_nothing) {
  for (const char* place : {"/b", "/a/bb", "/a/b/c/d", "/aa", "/a/memory.max", "/a/x/cpu.max"})
    EXPECT_FALSE(hides("40 30 0:40 / /sys/fs/cgroup" + std::string(place) + " rw - tmpfs tmpfs rw\n"))
        << place;
  // It was there before the hierarchy was mounted over it, or is mounted on another mount.
  EXPECT_FALSE(hides("25 20 0:40 / /sys/fs/cgroup/a rw - tmpfs tmpfs rw\n"));
  EXPECT_FALSE(hides("40 10 0:40 / /srv rw - tmpfs tmpfs rw\n"));
}

TEST_F(covered, a_group_that_is_mounted_over_itself_is_visible) {
  EXPECT_FALSE(hides("40 30 0:29 /a/b /sys/fs/cgroup/a/b rw - cgroup2 cgroup2 rw\n"));
  EXPECT_FALSE(hides("40 30 0:29 /a/b/c /sys/fs/cgroup/a/b/c rw - cgroup2 cgroup2 rw\n"));
}

TEST_F(covered, a_file_system_over_the_folder_of_the_hierarchy_hides_all_groups) {
  EXPECT_TRUE(hides("40 20 0:40 / /sys/fs rw - tmpfs tmpfs rw\n"));
  EXPECT_TRUE(hides("40 20 0:40 / /sys rw - tmpfs tmpfs rw\n"));
}

TEST_F(covered, the_list_of_groups_may_be_hidden) {
  EXPECT_TRUE(hides("40 11 0:40 /x /proc/4711/cgroup rw - tmpfs tmpfs rw\n"));
  EXPECT_TRUE(hides("40 11 0:40 / /proc/4711 rw - tmpfs tmpfs rw\n"));
  EXPECT_FALSE(hides("40 11 0:40 /x /proc/4712/cgroup rw - tmpfs tmpfs rw\n"));
  EXPECT_FALSE(hides("40 11 0:40 /x /proc/kcore rw - tmpfs tmpfs rw\n"));
  EXPECT_FALSE(hides("11 10 0:11 / /proc rw - proc proc rw\n"));
}

TEST_F(covered, without_a_list_of_groups_they_are_unknown) {
  groups("what is this\n");
  EXPECT_EQ(tree.facts().ancestors_hidden, 1u);
  tree.remove("/proc/self/cgroup");
  EXPECT_EQ(tree.facts().ancestors_hidden, 0u) << "a kernel without control groups";
  tree.remove("/proc/self/stat");
  EXPECT_EQ(tree.facts().ancestors_hidden, 1u) << "no /proc";
}

}  // namespace
