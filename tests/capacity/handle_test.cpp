// SPDX-License-Identifier: Apache-2.0
// The handle: changes are noticed, threads and children of fork() may use it, and no resource leaks.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "recorded_tree.hpp"

namespace {

using sukima_test::handle_pointer;
using sukima_test::mount_line;
using sukima_test::recorded_tree;

class handle : public testing::Test {
 protected:
  recorded_tree tree;
  sukima_capacity_options options{};
  sukima_capacity_facts facts{};

  void SetUp() override {
    tree.machine("0-7", "0-7").file("/proc/self/cgroup", "0::/a\n");
    tree.file("/proc/self/mountinfo", mount_line("/", "/sys/fs/cgroup", "cgroup2", "rw"));
    tree.file("/sys/fs/cgroup/cgroup.procs", "").file("/sys/fs/cgroup/a/cgroup.procs", "");
    quota("/sys/fs/cgroup/a", "150000 100000");
    options = tree.options();
  }
  void quota(const std::string& folder, const std::string& text) {
    tree.file(folder + "/cpu.max", text + "\n");
  }
};

TEST_F(handle, sees_changes_and_counts_them) {
  handle_pointer opened(sukima_capacity_open(&options));
  sukima_capacity_latest(opened.get(), &facts);
  EXPECT_EQ(facts.usable, 1.5);
  EXPECT_EQ(facts.generation, 1u);
  EXPECT_EQ(sukima_capacity_refresh(opened.get(), &facts), 0);
  EXPECT_EQ(facts.generation, 1u);

  quota("/sys/fs/cgroup/a", "250000 100000");
  EXPECT_EQ(sukima_capacity_refresh(opened.get(), &facts), 1);
  EXPECT_EQ(facts.usable, 2.5);
  EXPECT_EQ(facts.generation, 2u);

  tree.machine("0-7", "0-1");
  EXPECT_EQ(sukima_capacity_refresh(opened.get(), nullptr), 1);
  sukima_capacity_latest(opened.get(), &facts);
  EXPECT_EQ(facts.usable, 2);
  EXPECT_EQ(facts.cap, 2u);
  EXPECT_EQ(facts.generation, 3u);
  EXPECT_EQ(sukima_capacity_refresh(opened.get(), nullptr), 0);
}

TEST_F(handle, sees_a_controller_that_is_enabled_later) {
  handle_pointer opened(sukima_capacity_open(&options));
  quota("/sys/fs/cgroup", "50000 100000");
  EXPECT_EQ(sukima_capacity_refresh(opened.get(), &facts), 1);
  EXPECT_EQ(facts.usable, 0.5);
  tree.file("/sys/fs/cgroup/a/cpuset.cpus.effective", "3\n");
  EXPECT_EQ(sukima_capacity_refresh(opened.get(), &facts), 1);
  EXPECT_EQ(facts.cap, 1u);
}

TEST_F(handle, follows_the_process_to_another_group) {
  handle_pointer opened(sukima_capacity_open(&options));
  tree.file("/sys/fs/cgroup/b/c/cgroup.procs", "");
  quota("/sys/fs/cgroup/b", "320000 100000");
  tree.file("/proc/self/cgroup", "0::/b/c\n");
  EXPECT_EQ(sukima_capacity_refresh(opened.get(), &facts), 1);
  EXPECT_EQ(facts.usable, 3.2);
}

TEST_F(handle, looks_anew_when_a_mount_has_gone) {
  handle_pointer opened(sukima_capacity_open(&options));
  tree.remove("/sys/fs/cgroup/a");
  quota("/elsewhere/a", "60000 100000");
  tree.file("/proc/self/mountinfo", mount_line("/", "/elsewhere", "cgroup2", "rw"));
  EXPECT_EQ(sukima_capacity_refresh(opened.get(), &facts), 1);
  EXPECT_EQ(facts.usable, 0.6);
}

TEST_F(handle, facts_of_one_moment_belong_together_in_all_threads) {
  handle_pointer opened(sukima_capacity_open(&options));
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; i++) {
    threads.emplace_back([&, i] {
      uint64_t generation = 0;
      while (!stop.load()) {
        sukima_capacity_facts seen{};
        if (i == 0) {
          sukima_capacity_latest(opened.get(), &seen);
        } else {
          sukima_capacity_refresh(opened.get(), &seen);
        }
        EXPECT_GE(seen.generation, generation);
        generation = seen.generation;
        // A file is empty for a moment while the test writes it; then no quota is set.
        const bool first = seen.quota == 1.5 && seen.quota_period_us == 100000 && seen.usable == 1.5;
        const bool second = seen.quota == 2.5 && seen.quota_period_us == 200000 && seen.usable == 2.5;
        const bool none = std::isinf(seen.quota) && seen.quota_period_us == 0 && seen.usable == 8;
        EXPECT_TRUE(first || second || none)
            << seen.quota << " " << seen.quota_period_us << " " << seen.usable;
      }
    });
  }
  for (int i = 0; i < 300; i++) quota("/sys/fs/cgroup/a", i % 2 == 0 ? "500000 200000" : "150000 100000");
  stop.store(true);
  for (std::thread& thread : threads) thread.join();
  quota("/sys/fs/cgroup/a", "30000 100000");
  sukima_capacity_refresh(opened.get(), &facts);
  EXPECT_EQ(facts.usable, 0.3);
}

TEST_F(handle, works_in_a_child_of_fork_even_if_the_parent_was_refreshing) {
  handle_pointer opened(sukima_capacity_open(&options));
  std::atomic<bool> stop{false};
  std::atomic<int> refreshed{0};
  std::thread refresher([&] {
    while (!stop.load()) {
      sukima_capacity_refresh(opened.get(), nullptr);
      refreshed.fetch_add(1);
    }
  });
  int failures = 0;
  for (int i = 0; i < 20; i++) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      tree.file("/proc/self/cgroup", "0::/child" + std::to_string(i) + "\n");
      sukima_capacity_facts seen{};
      const int changed = sukima_capacity_refresh(opened.get(), &seen);
      _exit(changed == 1 && seen.usable == 8 ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) failures++;
    tree.file("/proc/self/cgroup", "0::/a\n");
    // The refresh that is running may have read the child's group and publish that later; the next one
    // has not.
    const int before = refreshed.load();
    while (refreshed.load() < before + 2) std::this_thread::yield();
    sukima_capacity_latest(opened.get(), &facts);
    ASSERT_EQ(facts.usable, 1.5);
  }
  EXPECT_EQ(failures, 0);
  stop.store(true);
  refresher.join();
}

TEST_F(handle, keeps_errno_and_no_file_open) {
  const auto open_files = [] {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
      count += entry.exists() ? 1 : 0;
    return count;
  };
  tree.remove("/sys/fs/cgroup/a/cpu.max");
  const int before = open_files();
  errno = EDOM;
  sukima_capacity* opened = sukima_capacity_open(&options);
  EXPECT_EQ(errno, EDOM);
  sukima_capacity_refresh(opened, &facts);
  EXPECT_EQ(errno, EDOM);
  sukima_capacity_read(&options, &facts);
  EXPECT_EQ(errno, EDOM);
  sukima_capacity_report_free(sukima_capacity_explain(&options));
  EXPECT_EQ(errno, EDOM);
  EXPECT_EQ(open_files(), before);
  sukima_capacity_close(opened);
  EXPECT_EQ(errno, EDOM);
}

TEST_F(handle, closing_nothing_is_allowed) {
  sukima_capacity_close(nullptr);
  sukima_capacity_report_free(nullptr);
}

// The running machine, with the threads' real affinity masks.
class affinity : public testing::Test {
 protected:
  cpu_set_t before{};
  sukima_capacity_options options{};
  sukima_capacity_facts facts{};

  void SetUp() override {
    options.override_text = "";
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0) << "more than 1024 CPUs";
  }
  void TearDown() override { sched_setaffinity(0, sizeof before, &before); }

  // Pins the calling thread to the first CPU that it may use.
  void pin() const {
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++) {
      if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
    }
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  }
};

TEST_F(affinity, is_that_of_the_main_thread_by_default) {
  std::thread([&] {
    pin();
    EXPECT_EQ(sukima_capacity_read(&options, &facts), 0);
  }).join();
  EXPECT_EQ(facts.affinity, static_cast<uint32_t>(CPU_COUNT(&before)));
  pin();
  EXPECT_EQ(sukima_capacity_read(&options, &facts), 0);
  EXPECT_EQ(facts.affinity, 1u);
  EXPECT_EQ(facts.cap, 1u);
}

TEST_F(affinity, of_the_caller) {
  options.affinity = SUKIMA_CAPACITY_OF_CALLER;
  std::thread([&] {
    pin();
    EXPECT_EQ(sukima_capacity_read(&options, &facts), 0);
  }).join();
  EXPECT_EQ(facts.affinity, 1u);
  EXPECT_EQ(sukima_capacity_read(&options, &facts), 0);
  EXPECT_EQ(facts.affinity, static_cast<uint32_t>(CPU_COUNT(&before)));
}

TEST_F(affinity, at_the_opening_is_kept_when_threads_are_pinned_later) {
  options.affinity = SUKIMA_CAPACITY_AT_OPEN;
  handle_pointer opened(sukima_capacity_open(&options));
  pin();
  sukima_capacity_refresh(opened.get(), &facts);
  EXPECT_EQ(facts.affinity, static_cast<uint32_t>(CPU_COUNT(&before)));
  opened.reset(sukima_capacity_open(&options));
  sched_setaffinity(0, sizeof before, &before);
  sukima_capacity_refresh(opened.get(), &facts);
  EXPECT_EQ(facts.affinity, 1u);
}

TEST(affinity_at_open, follows_the_cpuset_if_it_was_not_narrowed_before) {
  recorded_tree tree;
  tree.machine("0-7", "2-3").file("/proc/self/cgroup", "0::/\n");
  tree.file("/proc/self/mountinfo", mount_line("/", "/sys/fs/cgroup", "cgroup2", "rw"));
  tree.file("/sys/fs/cgroup/cgroup.procs", "").file("/sys/fs/cgroup/cpuset.cpus.effective", "2-3\n");
  sukima_capacity_options options = tree.options();
  options.affinity = SUKIMA_CAPACITY_AT_OPEN;
  handle_pointer wide(sukima_capacity_open(&options));
  tree.machine("0-7", "2");
  handle_pointer narrow(sukima_capacity_open(&options));
  sukima_capacity_facts facts{};
  tree.file("/sys/fs/cgroup/cpuset.cpus.effective", "2-6\n");
  EXPECT_EQ(sukima_capacity_refresh(wide.get(), &facts), 1);
  EXPECT_EQ(facts.cap, 5u);
  EXPECT_EQ(sukima_capacity_refresh(narrow.get(), &facts), 1);
  EXPECT_EQ(facts.cap, 1u);
}

}  // namespace
