// SPDX-License-Identifier: Apache-2.0
// Containers by their control groups: a recorded tree of version 1, and one of version 2 in the kernel's
// format.
#include <gtest/gtest.h>

#include <host/shared/observer.hpp>

#include "../../capacity/recorded_tree.hpp"
#include "deadlines.hpp"
#include "source/group_tree.hpp"

namespace sukima::host {
namespace {

using namespace std::chrono_literals;
using sukima_test::recorded_tree;

const std::string recordings = std::string(SUKIMA_RECORDED) + "/";

/// Two readings, of recordings that were made `seconds` apart.
description between(const std::string& earlier, const std::string& later, double seconds, observer& seen) {
  recorded_tree tree;
  sukima_test::load_tree(recordings + earlier, tree);
  const auto groups = open_control_groups({{}, true, tree.root()});
  const snapshot first = groups->read(far());
  seen.update(first);
  sukima_test::load_tree(recordings + later, tree);
  snapshot second = groups->read(far());
  second.clock = first.clock + seconds;
  for (observed_vm& one : second.vms) one.read_at = first.vms.at(0).read_at + seconds;
  return seen.update(second);
}

TEST(control_groups, of_version_1_as_recorded) {
  observer seen;
  const description host = between("container-v1-earlier.tree", "container-v1.tree", 2, seen);
  ASSERT_EQ(host.vms.size(), 1U);
  const vm& one = host.vms[0];
  EXPECT_EQ(one.name, "3f9a1c000000");
  EXPECT_EQ(one.weight, 128);
  EXPECT_EQ(one.weight_of, weight_owner::vm);
  EXPECT_EQ(one.cap, 0.5);
  ASSERT_EQ(one.vcpus.size(), 1U) << "it can use no more than one at a time";
  EXPECT_NEAR(one.vcpus[0].ran.value(), 1.516823543, 1e-9);
  // Its two threads waited since the first reading.
  EXPECT_NEAR(one.vcpus[0].waited.value(), (2298499089 - 733559739 + 2189023392 - 752617722) * 1e-9, 1e-6);
  EXPECT_NEAR(seen.measured()[0].used.value(), (1516823543 - 518498093) * 1e-9 / 2, 1e-6);
  EXPECT_EQ(seen.measured()[0].waited_by_ran, 0) << "the quota explains all of it";
  EXPECT_NEAR(one.vcpus[0].demand.value(), 0.6, 0.01);
  ASSERT_EQ(host.pcpus.size(), 2U);
  EXPECT_EQ(host.pcpus[1].core, 1U);
  EXPECT_EQ(host.pcpus[1].node, 0U);
  // Busy 2.0 and 2.0 of 2 s, of which the container had 1.
  EXPECT_LT(host.pcpus[0].capacity + host.pcpus[1].capacity, 1.1);
  EXPECT_GT(host.pcpus[0].capacity + host.pcpus[1].capacity, 0.4);
}

TEST(control_groups, of_version_2) {
  observer seen;
  const description host = between("containers-v2-earlier.tree", "containers-v2.tree", 1, seen);
  ASSERT_EQ(host.vms.size(), 3U);
  const vm& docker = host.vms[2];
  EXPECT_EQ(docker.name, "0123456789ab");
  EXPECT_EQ(docker.weight, 512);
  EXPECT_EQ(docker.cap, std::nullopt);
  EXPECT_EQ(docker.vcpus.size(), 2U);
  EXPECT_EQ(docker.vcpus[0].hard, (std::vector<std::uint32_t>{2, 3}));
  EXPECT_EQ(docker.vcpus[0].demand, std::nullopt) << "its threads waited";
  const vm& pod = host.vms[0];
  EXPECT_EQ(pod.name, "fedcba987654");
  EXPECT_EQ(pod.cap, 1.5) << "the quota of its pod";
  EXPECT_EQ(pod.vcpus.size(), 2U);
  EXPECT_NEAR(pod.vcpus[0].demand.value(), 0.25 * 1.1 + 0.05 / 2, 1e-9);
  const vm& nspawn = host.vms[1];
  EXPECT_EQ(nspawn.name, "web-1");
  EXPECT_EQ(nspawn.vcpus[0].demand, 0) << "it is frozen";
  EXPECT_EQ(seen.measured()[1].state, vm_state::paused);
}

TEST(control_groups, that_are_frozen_with_the_group_above_are_paused) {
  recorded_tree tree;
  sukima_test::load_tree(recordings + "containers-v2.tree", tree);
  const auto groups = open_control_groups({{"/kubepods.slice/*"}, false, tree.root()});
  const auto state = [&] { return groups->read(far()).vms.at(0).state; };
  EXPECT_EQ(state(), vm_state::running);
  // The kernel keeps the file of a group that is frozen only by one above it.
  const std::string top = "/sys/fs/cgroup/kubepods.slice";
  tree.file(top + "/kubepods-pod1.slice/cgroup.freeze", "0\n").file(top + "/cgroup.freeze", "1\n");
  EXPECT_EQ(state(), vm_state::paused);
  // The frozen group can be above all that are visible here.
  tree.file(top + "/cgroup.freeze", "0\n")
      .file(top + "/kubepods-pod1.slice/cgroup.events", "populated 1\nfrozen 1\n");
  EXPECT_EQ(state(), vm_state::paused);
  tree.file(top + "/kubepods-pod1.slice/cgroup.events", "populated 1\nfrozen 0\n");
  EXPECT_EQ(state(), vm_state::running);
}

TEST(control_groups, that_are_named_need_not_look_like_containers) {
  recorded_tree tree;
  sukima_test::load_tree(recordings + "containers-v2.tree", tree);
  const snapshot now =
      open_control_groups({{"/user.slice", "/nonesuch", "kubepods.slice/*"}, false, tree.root()})
          ->read(far());
  ASSERT_EQ(now.vms.size(), 2U);
  EXPECT_EQ(now.vms[0].now.name, "/kubepods.slice/kubepods-pod1.slice");
  EXPECT_EQ(now.vms[1].now.name, "/user.slice");
  EXPECT_EQ(now.vms[1].now.vcpus.size(), 4U);
  EXPECT_EQ(now.notes, std::vector<std::string>{"there is no control group /nonesuch"});
}

TEST(control_groups, after_the_deadline_are_stale) {
  recorded_tree tree;
  sukima_test::load_tree(recordings + "containers-v2.tree", tree);
  const auto groups = open_control_groups({{}, true, tree.root()});
  const deadline past = std::chrono::steady_clock::now() - 1s;
  EXPECT_TRUE(groups->read(past).vms.empty());
  EXPECT_EQ(groups->read(far()).vms.size(), 3U);
  for (const observed_vm& one : groups->read(past).vms) EXPECT_TRUE(one.stale);
  EXPECT_EQ(groups->read(past).vms.size(), 3U);
  for (const observed_vm& one : groups->read(far()).vms) EXPECT_FALSE(one.stale);
}

TEST(control_groups, threads_that_come_and_go_do_not_take_their_waiting_back) {
  recorded_tree tree;
  sukima_test::load_tree(recordings + "container-v1.tree", tree);
  const auto groups = open_control_groups({{}, true, tree.root()});
  const std::string folder = "/sys/fs/cgroup/cpu/docker/3f9a1c" + std::string(58, '0');
  const auto waited = [&] { return groups->read(far()).vms.at(0).now.vcpus.at(0).waited.value(); };
  EXPECT_EQ(waited(), 0);
  tree.file("/proc/3418/schedstat", "1 2398499089 3\n")
      .file("/proc/9/schedstat", "1 50000000 1\n")
      .file(folder + "/tasks", "3418\n9\n");
  EXPECT_NEAR(waited(), 0.15, 1e-9);
  tree.file(folder + "/tasks", "9\n");
  EXPECT_NEAR(waited(), 0.15, 1e-9);
}

TEST(control_groups, whose_quota_changes_did_not_start_anew) {
  recorded_tree tree;
  sukima_test::load_tree(recordings + "container-v1.tree", tree);
  const auto groups = open_control_groups({{}, true, tree.root()});
  const double before = groups->read(far()).vms.at(0).now.vcpus.at(0).ran.value();
  tree.file("/sys/fs/cgroup/cpu/docker/3f9a1c" + std::string(58, '0') + "/cpu.cfs_quota_us", "150000\n");
  const snapshot now = groups->read(far());
  ASSERT_EQ(now.vms.at(0).now.vcpus.size(), 2U);
  EXPECT_EQ(now.vms[0].now.vcpus[0].ran, before) << "it ran no more";
  EXPECT_EQ(now.vms[0].now.vcpus[1].ran, 0);
}

TEST(control_groups, that_have_a_quota_together_are_named) {
  recorded_tree tree;
  sukima_test::load_tree(recordings + "containers-v2.tree", tree);
  const std::string top = "/sys/fs/cgroup/together";
  tree.file(top + "/cpu.max", "50000 100000\n");
  for (const char* name : {"/a", "/b"})
    tree.file(top + name + "/cpu.max", "max 100000\n")
        .file(top + name + "/cpu.weight", "100\n")
        .file(top + name + "/cpu.stat", "usage_usec 1\n");
  const auto notes = [&](const std::string& pattern) {
    return open_control_groups({{pattern}, false, tree.root()})->read(far()).notes;
  };
  EXPECT_EQ(notes("/together/*"),
            std::vector<std::string>{"the quota of the control group /together is shared by 2 containers; "
                                     "each of them is shown with the whole quota"});
  EXPECT_EQ(notes("/together/a"), std::vector<std::string>());
}

TEST(control_groups, a_part_of_the_hierarchy_mounted_elsewhere_does_not_hide_it) {
  recorded_tree tree;
  const std::string whole = "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
  const std::string part = "40 23 0:28 /a /mnt rw - cgroup2 cgroup2 rw\n";
  tree.file("/sys/fs/cgroup/cgroup.controllers", "cpu\n").file("/sys/fs/cgroup/a/cpu.stat", "usage_usec 1\n");
  for (const std::string& mounts : {whole + part, part + whole}) {
    tree.file("/proc/self/mountinfo", mounts);
    EXPECT_EQ(group_tree(tree.root()).match("/a"), std::vector<std::string>{"/a"}) << mounts;
  }
}

TEST(control_groups, a_group_without_counters_is_named) {
  recorded_tree tree;
  sukima_test::load_tree(recordings + "container-v1.tree", tree);
  tree.remove("/sys/fs/cgroup/cpuacct/docker");
  const snapshot now = open_control_groups({{}, true, tree.root()})->read(far());
  EXPECT_TRUE(now.vms.empty());
  EXPECT_NE(now.notes.at(0).find("cpuacct"), std::string::npos);
}

TEST(control_groups, without_a_hierarchy_are_refused) {
  recorded_tree tree;
  EXPECT_THROW(open_control_groups({{}, true, tree.root()}), source_error);
  tree.file("/proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
      .file("/sys/fs/cgroup/cgroup.controllers", "memory pids\n");
  EXPECT_THROW(open_control_groups({{}, true, tree.root()}), source_error);
}

TEST(group_tree, content_that_is_malformed_is_left_out) {
  recorded_tree tree;
  tree.file("/proc/self/mountinfo", "short\n31 23 0:28 / /sys/fs/cg\\040roup rw - cgroup2 cgroup2 rw\n")
      .file("/sys/fs/cg roup/cgroup.controllers", "cpu\n")
      .file("/sys/fs/cg roup/a/cpu.max", "many 5\n")
      .file("/sys/fs/cg roup/a/cpu.weight", "heavy\n")
      .file("/sys/fs/cg roup/a/cpu.stat", "usage_usec 5\n")
      .file("/sys/fs/cg roup/a/cpuset.cpus.effective", "0-\n");
  const group_tree groups(tree.root());
  ASSERT_TRUE(groups.there());
  const auto facts = groups.facts("/a");
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->quota, std::nullopt);
  EXPECT_EQ(facts->weight, std::nullopt);
  EXPECT_EQ(facts->usage, 5e-6);
  EXPECT_TRUE(facts->cpus.empty());
  EXPECT_FALSE(groups.facts("/b"));
  EXPECT_EQ(groups.group_of("nonsense\n0::/a\n"), "/a");
  EXPECT_EQ(groups.group_of(""), std::nullopt);
}

TEST(container_names, of_each_manager) {
  const std::string id = "0123456789abcdef" + std::string(48, '0'), brief = "0123456789ab";
  for (const std::string& path :
       {"/docker/" + id, "/system.slice/docker-" + id + ".scope", "/machine.slice/libpod-" + id + ".scope",
        "/libpod_parent/libpod-" + id, "/kubepods/burstable/pod17/" + id,
        "/kubepods.slice/kubepods-pod1.slice/cri-containerd-" + id + ".scope",
        "/kubepods.slice/crio-" + id + ".scope"})
    EXPECT_EQ(container_name(path), brief) << path;
  EXPECT_EQ(container_name("/lxc/web"), "web");
  EXPECT_EQ(container_name("/lxc.payload.web"), "web");
  EXPECT_EQ(container_name("/machine.slice/systemd-nspawn@a\\x2db.service"), "a-b");
  EXPECT_EQ(container_name("/machine.slice/machine-a\\x2db.scope"), "a-b");
}

TEST(container_names, are_not_found_in_other_groups) {
  const std::string id(64, '0');
  for (const std::string& path :
       {std::string("/"), std::string("/docker"), std::string("/docker/short"), "/user.slice/" + id,
        std::string("/system.slice/docker.service"), "/machine.slice/libpod-conmon-" + id + ".scope",
        std::string("/machine.slice/machine-qemu\\x2d1\\x2dvm.scope"),
        "/system.slice/docker-" + std::string(64, 'g') + ".scope"})
    EXPECT_EQ(container_name(path), std::nullopt) << path;
}

}  // namespace
}  // namespace sukima::host
