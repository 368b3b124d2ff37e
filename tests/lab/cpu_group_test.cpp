// SPDX-License-Identifier: Apache-2.0
// Control groups: finding a parent for them in pretended trees, making and removing them, and what a killed
// benchmark leaves. Real groups are tried where that is allowed.
#include <lab/shared/cpu_group.hpp>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <system_error>

#include <base/shared/child.hpp>

namespace sukima::lab {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// No kernel gives a process so large a number (PID_MAX_LIMIT), so no new one has it.
constexpr pid_t dead_process = (1 << 22) + 1;

class groups : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "sukima-groups-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root = name;
  }
  void TearDown() override { fs::remove_all(root); }

  void write(const std::string& file, const std::string& text) const {
    fs::create_directories((root / file).parent_path());
    std::ofstream(root / file) << text;
  }

  fs::path root;
};

TEST_F(groups, of_version_1_go_into_the_own_group) {
  write("proc/self/mountinfo",
        "30 25 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
        "31 30 0:27 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset\n"
        "32 30 0:28 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
        "33 30 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  write("proc/self/cgroup", "4:cpuset:/\n3:cpu,cpuacct:/user/one\n0::/elsewhere\n");
  EXPECT_EQ(find_group_parents(root),
            (std::vector<group_parent>{{root / "sys/fs/cgroup/cpu,cpuacct/user/one", 1}}));
}

TEST_F(groups, of_version_1_are_found_where_a_container_sees_its_part) {
  write("proc/self/mountinfo", "32 30 0:28 /docker/abc /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n");
  write("proc/self/cgroup", "3:cpu:/docker/abc\n");
  EXPECT_EQ(find_group_parents(root), (std::vector<group_parent>{{root / "sys/fs/cgroup/cpu", 1}}));
  write("proc/self/cgroup", "3:cpu:/docker/abc/below\n");
  EXPECT_EQ(find_group_parents(root), (std::vector<group_parent>{{root / "sys/fs/cgroup/cpu/below", 1}}));
}

TEST_F(groups, are_found_below_mounts_with_blanks) {
  write("proc/self/mountinfo",
        "32 30 0:28 /my\\040group /sys/fs/cg\\134a\\040b\\011 rw - cgroup cgroup rw,cpu\n");
  write("proc/self/cgroup", "3:cpu:/my group/below\n");
  EXPECT_EQ(find_group_parents(root), (std::vector<group_parent>{{root / "sys/fs/cg\\a b\t/below", 1}}));
  write("proc/self/mountinfo", "32 30 0:28 / /sys/fs/a\\400b\\04 rw - cgroup cgroup rw,cpu\n");
  write("proc/self/cgroup", "3:cpu:/\n");
  EXPECT_EQ(find_group_parents(root), (std::vector<group_parent>{{root / "sys/fs/a\\400b\\04", 1}}))
      << "not an escape";
}

TEST_F(groups, of_version_2_go_where_the_controller_is_handed_down) {
  write("proc/self/mountinfo", "30 25 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
  write("proc/self/cgroup", "0::/user.slice/session.scope\n");
  write("sys/fs/cgroup/cgroup.subtree_control", "memory cpu pids\n");
  write("sys/fs/cgroup/user.slice/cgroup.subtree_control", "cpuset cpu\n");
  write("sys/fs/cgroup/user.slice/session.scope/cgroup.subtree_control", "");
  EXPECT_EQ(find_group_parents(root),
            (std::vector<group_parent>{{root / "sys/fs/cgroup/user.slice", 2}, {root / "sys/fs/cgroup", 2}}));
  write("sys/fs/cgroup/user.slice/cgroup.subtree_control", "cpuset memory\n");
  write("sys/fs/cgroup/cgroup.subtree_control", "cpuset\n");
  EXPECT_TRUE(find_group_parents(root).empty());
}

TEST_F(groups, have_no_place_without_control_groups) {
  EXPECT_TRUE(find_group_parents(root).empty());
  write("proc/self/mountinfo", "garbage\n30 25 0:26 / / rw - ext4 /dev/root rw\n");
  write("proc/self/cgroup", "");
  EXPECT_TRUE(find_group_parents(root).empty());
}

TEST_F(groups, exist_as_long_as_their_object) {
  const fs::path directory = root / group_name(getpid());
  {
    const cpu_group home(root, group_name(getpid()), 1);
    EXPECT_EQ(home.directory(), directory);
    {
      const cpu_group program(home.directory(), "program", 1);
      EXPECT_TRUE(fs::is_directory(directory / "program"));
      EXPECT_EQ(program.processes(), directory / "program" / "cgroup.procs");
    }
    EXPECT_FALSE(fs::exists(directory / "program"));
  }
  EXPECT_FALSE(fs::exists(directory));
}

TEST_F(groups, write_their_quota_in_the_files_of_their_version) {
  const cpu_group first(root, "first", 1), second(root, "second", 2);
  for (const char* file : {"first/cpu.cfs_period_us", "first/cpu.cfs_quota_us", "second/cpu.max",
                           "second/cgroup.subtree_control"}) {
    write(file, "");
  }
  first.allow_groups_below();
  first.set_quota(0.5);
  EXPECT_EQ(text_of(root / "first/cpu.cfs_period_us"), "100000");
  EXPECT_EQ(text_of(root / "first/cpu.cfs_quota_us"), "50000");
  second.allow_groups_below();
  second.set_quota(1.0, std::chrono::milliseconds(20));
  EXPECT_EQ(text_of(root / "second/cpu.max"), "20000 20000");
  EXPECT_EQ(text_of(root / "second/cgroup.subtree_control"), "+cpu");
}

TEST_F(groups, that_cannot_be_made_or_set_are_an_error_with_the_file) {
  const auto message_of = [](auto action) -> std::string {
    try {
      action();
    } catch (const std::system_error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_NE(message_of([&] { cpu_group(root / "absent", "one", 1); }).find((root / "absent/one").string()),
            std::string::npos);
  const cpu_group group(root, "one", 2);
  EXPECT_NE(message_of([&] { group.set_quota(1); }).find((root / "one/cpu.max").string()), std::string::npos);
}

TEST_F(groups, write_weight_and_processes_into_their_files) {
  for (const int version : {1, 2}) {
    const cpu_group group(root, "g", version);
    const fs::path weight = group.directory() / (version == 1 ? "cpu.shares" : "cpu.weight");
    for (const fs::path& file : {weight, group.processes()}) std::ofstream(file).close();
    group.set_weight(3);
    move_into_group(group.directory(), 17);
    EXPECT_EQ(text_of(weight), version == 1 ? "3072" : "300");
    EXPECT_EQ(text_of(group.processes()), "17");
    for (const fs::path& file : {weight, group.processes()}) fs::remove(file);
  }
}

TEST_F(groups, that_a_dead_benchmark_left_are_removed_and_no_others) {
  const fs::path left = root / group_name(dead_process);
  fs::create_directories(left / "hog-0");
  fs::create_directories(left / "program");
  const fs::path alive = root / group_name(getpid());
  fs::create_directories(alive / "program");
  for (const char* name : {"sukima-bench-", "sukima-bench-x", "sukima-bench-1x", "other"})
    fs::create_directory(root / name);
  EXPECT_EQ(remove_leftover_groups({root, 1}), 1);
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(alive / "program"));
  for (const char* name : {"sukima-bench-", "sukima-bench-x", "sukima-bench-1x", "other"})
    EXPECT_TRUE(fs::exists(root / name)) << name;
}

TEST_F(groups, are_removed_by_a_signal_that_ends_the_process) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGTERM, SIG_DFL);
    const cpu_group home(root, "home", 1);
    const cpu_group program(home.directory(), "program", 1);
    const process::background_child sleeper(
        {.arguments = {"/bin/sh", "-c", "echo $$ > " + (root / "pid").string() + "; exec sleep 1000"},
         .environment = {},
         .input = {}});
    while (text_of(root / "pid").empty()) usleep(1000);
    raise(SIGTERM);
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
  EXPECT_FALSE(fs::exists(root / "home"));
  EXPECT_NE(kill(std::stoi(text_of(root / "pid")), 0), 0);
}

TEST(real_groups, give_a_program_its_quota) {
  const auto places = find_group_parents();
  std::unique_ptr<cpu_group> group;
  try {
    if (!places.empty())
      group = std::make_unique<cpu_group>(places[0].directory, group_name(getpid()), places[0].version);
    if (group != nullptr) group->set_quota(0.05);
  } catch (const std::system_error&) {
    group = nullptr;
  }
  if (group == nullptr) GTEST_SKIP() << "control groups for CPU time cannot be made here";
  // It ends once the kernel has held the group back.
  const std::string statistics = (group->directory() / "cpu.stat").string();
  const std::string script =
      "cat /proc/self/cgroup; until grep -q '^nr_throttled [1-9]' '" + statistics + "'; do :; done";
  process::child_request request{.arguments = {"/bin/sh", "-c", script}, .environment = {}, .input = {}};
  request.cpu_group = group->processes().string();
  request.limit = std::chrono::seconds(500);
  const process::child_result result = process::run_child(request);
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_FALSE(result.timed_out);
  EXPECT_NE(result.output.find("/" + group_name(getpid()) + "\n"), std::string::npos) << result.output;
  const fs::path directory = group->directory();
  group.reset();
  EXPECT_FALSE(fs::exists(directory));
}

}  // namespace
}  // namespace sukima::lab
