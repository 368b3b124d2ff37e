// SPDX-License-Identifier: Apache-2.0
// The memory that control groups allow, in folders that play a machine.
#include <calibrate/memory_limit.hpp>

#include <gtest/gtest.h>
#include <base/shared/temporary_directory.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

using sukima::calibrate_detail::memory_limit;

class memory_of_groups : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root() + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::string root() const { return folder_.path(); }
  std::uint64_t limit() const { return memory_limit(root()); }

 private:
  sukima::process::temporary_directory folder_{"memory-limit"};
};

TEST_F(memory_of_groups, is_unlimited_if_nothing_is_known) {
  EXPECT_EQ(limit(), UINT64_MAX);
  write("/proc/self/cgroup", "0::/\n");
  EXPECT_EQ(limit(), UINT64_MAX);
  write("/proc/self/cgroup", "malformed\n:\n0:\n0::a\n");
  EXPECT_EQ(limit(), UINT64_MAX);
}

TEST_F(memory_of_groups, is_the_smallest_limit_on_the_way_to_the_root) {
  write("/proc/self/cgroup", "0::/outer/inner\n");
  write("/sys/fs/cgroup/outer/inner/memory.max", "max\n");
  EXPECT_EQ(limit(), UINT64_MAX);
  write("/sys/fs/cgroup/outer/memory.max", "67108864\n");
  EXPECT_EQ(limit(), 67108864U);
  write("/sys/fs/cgroup/outer/inner/memory.max", "1048576\n");
  EXPECT_EQ(limit(), 1048576U);
}

TEST_F(memory_of_groups, is_found_in_version_1_beside_version_2) {
  write("/proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/a/b\n0::/\n");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "4096\n");
  EXPECT_EQ(limit(), 4096U);
}

TEST_F(memory_of_groups, is_the_containers_if_the_path_is_the_hosts) {
  write("/proc/self/cgroup", "4:memory:/docker/0123\n");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "8192\n");
  EXPECT_EQ(limit(), 8192U);
}

}  // namespace
