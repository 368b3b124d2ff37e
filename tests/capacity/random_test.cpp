// SPDX-License-Identifier: Apache-2.0
// Random trees: the library and the reference must agree.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "recorded_tree.hpp"
#include "reference.hpp"

namespace {

using sukima_test::compute_reference;
using sukima_test::mount_line;
using sukima_test::recorded_tree;
using sukima_test::reference_facts;

class generator {
 public:
  explicit generator(unsigned seed) : random_(seed) {}

  void fill(recorded_tree& tree) {
    cpu_count_ = pick({1, 2, 3, 8, 64, 65, 200, 1500});
    tree.machine(some_list(), some_list());
    if (chance(5)) tree.file("/sys/devices/system/cpu/online", pick_text({"", "x", "5-2"}));
    if (chance(5)) tree.file("/proc/self/status", pick_text({"", "Cpus_allowed_list:\t?\n", "Name:\tx\n"}));
    const bool v1_cpu = chance(40);
    const bool v1_cpuset = chance(40);
    if (v1_cpu) add_hierarchy(tree, "cgroup", pick_text({"cpu", "cpu,cpuacct"}), number(1, 12));
    if (v1_cpuset) add_hierarchy(tree, "cgroup", "cpuset", number(1, 12));
    if (chance(80)) add_hierarchy(tree, "cgroup2", "", 0);
    if (chance(30)) groups_ += "7:pids:/x\n";
    if (chance(30)) mounts_ += mount_line("net:[4026531840]", "/run/netns/a", "nsfs", "rw");
    if (chance(10)) groups_ += "garbage\n";
    tree.file("/proc/self/cgroup", groups_).file("/proc/self/mountinfo", mounts_);
  }

 private:
  int number(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  bool chance(int percent) { return number(1, 100) <= percent; }
  int pick(const std::vector<int>& from) {
    return from[static_cast<std::size_t>(number(0, static_cast<int>(from.size()) - 1))];
  }
  std::string pick_text(const std::vector<std::string>& from) {
    return from[static_cast<std::size_t>(number(0, static_cast<int>(from.size()) - 1))];
  }

  std::string some_list() {
    if (chance(40)) return "0-" + std::to_string(cpu_count_ - 1);
    std::string list;
    for (int cpu = number(0, cpu_count_ - 1); cpu < cpu_count_; cpu += number(1, 5)) {
      const int last = std::min(cpu_count_ - 1, cpu + number(0, 3));
      list += (list.empty() ? "" : ",") + std::to_string(cpu);
      if (last > cpu) list += "-" + std::to_string(last);
      cpu = last + 1;
    }
    return list;
  }

  std::string some_number() {
    if (chance(8)) return pick_text({"", "0", "-", "abc", "1 x", "1e5"});
    return std::to_string(number(1, 400) * pick({1000, 2500, 999}));
  }

  void fill_group(recorded_tree& tree, const std::string& folder, bool v2) {
    const std::string end = pick_text({"\n", "\n", "\r\n", ""});
    tree.file(folder + "/cgroup.procs", "");
    if (chance(70)) {
      const std::string quota = chance(50) ? (v2 ? "max" : "-1") : some_number();
      const std::string period = chance(70) ? "100000" : some_number();
      if (v2) {
        tree.file(folder + "/cpu.max", quota + " " + period + end);
      } else {
        tree.file(folder + "/cpu.cfs_quota_us", quota + end)
            .file(folder + "/cpu.cfs_period_us", period + end);
      }
    }
    if (chance(60)) tree.file(folder + (v2 ? "/cpu.weight" : "/cpu.shares"), some_number() + end);
    if (chance(30)) {
      const std::string list = chance(10) ? pick_text({"", "4-", "junk"}) : some_list();
      tree.file(
          folder + (v2 ? "/cpuset.cpus.effective" : pick_text({"/cpuset.cpus", "/cpuset.effective_cpus"})),
          list + end);
    }
  }

  void add_hierarchy(recorded_tree& tree, const std::string& type, const std::string& controllers, int id) {
    std::vector<std::string> names;
    for (int depth = number(0, 5); depth > 0; depth--)
      names.push_back(pick_text({"a", "b c", "x:y", "pod-1", "back\\slash"}));
    std::string path;
    for (const std::string& name : names) path += "/" + name;
    groups_ += std::to_string(id) + ":" + controllers + ":" + (path.empty() ? "/" : path) + "\n";
    for (int mounts = number(0, 3); mounts > 0; mounts--) {
      const int hidden = number(0, static_cast<int>(names.size()));
      std::string mount_root;
      std::string below;
      for (int i = 0; i < static_cast<int>(names.size()); i++)
        (i < hidden ? mount_root : below) += "/" + names[static_cast<std::size_t>(i)];
      if (chance(10)) mount_root += pick_text({"x", "/else"});
      const std::string mount_point = "/mnt " + std::to_string(mount_number_++) + "/cg";
      mounts_ += mount_line(mount_root.empty() ? "/" : escape(mount_root), escape(mount_point), type,
                            "rw," + controllers);
      if (chance(10)) continue;  // hidden by something: the folder does not exist
      std::string folder = mount_point;
      fill_group(tree, folder, type == "cgroup2");
      for (std::size_t i = static_cast<std::size_t>(hidden); i < names.size(); i++) {
        fill_group(tree, folder += "/" + names[i], type == "cgroup2");
      }
    }
  }

  static std::string escape(const std::string& path) {
    std::string result;
    for (char character : path) {
      if (character == ' ')
        result += "\\040";
      else if (character == '\\')
        result += "\\134";
      else
        result += character;
    }
    return result;
  }

  std::mt19937 random_;
  int cpu_count_ = 1;
  int mount_number_ = 0;
  std::string groups_;
  std::string mounts_;
};

TEST(random_trees, library_and_reference_agree) {
  int with_quota = 0;
  for (unsigned seed = 1; seed <= 250; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    recorded_tree tree;
    generator(seed).fill(tree);
    const reference_facts expected = compute_reference(tree.root());
    const sukima_capacity_facts facts = tree.facts();
    ASSERT_EQ(facts.online, expected.online);
    ASSERT_EQ(facts.affinity, expected.affinity);
    ASSERT_EQ(facts.cpuset, expected.cpuset);
    ASSERT_EQ(facts.cap, expected.cap);
    ASSERT_EQ(facts.quota, expected.quota);
    ASSERT_EQ(facts.quota_period_us, expected.period_us);
    ASSERT_EQ(facts.weight, expected.weight);
    ASSERT_EQ(facts.usable, expected.usable);
    if (facts.binding == SUKIMA_CAPACITY_QUOTA) with_quota++;
  }
  EXPECT_GT(with_quota, 50) << "the trees have become too simple";
}

}  // namespace
