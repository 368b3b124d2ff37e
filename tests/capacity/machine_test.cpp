// SPDX-License-Identifier: Apache-2.0
// The running machine: a control group of our own with a quota, a process in it, and a change while it runs.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>

#include <sukima/capacity.h>

#include "own_group.hpp"

namespace {

using namespace sukima_test;

// A group of a container may have a quota, which holds for the groups in it, too.
bool has_quota(const hierarchy& where) {
  const std::string text = read_file(where.mount_point / (where.v2 ? "cpu.max" : "cpu.cfs_quota_us"));
  return !text.empty() && !text.starts_with(where.v2 ? "max" : "-1");
}

// A child that moves itself into a group and reports its facts on request.
class child {
 public:
  explicit child(const fs::path& group_path, bool own_namespace = false) {
    if (::pipe(ask_) != 0 || ::pipe(answer_) != 0) throw std::runtime_error("no pipe");
    pid_ = ::fork();
    if (pid_ == 0) run(group_path, own_namespace);
    char answer = 'n';
    ready_ = ::read(answer_[0], &answer, 1) == 1 && answer == 'y';
  }
  ~child() {
    ::close(ask_[1]);
    int status = 0;
    ::waitpid(pid_, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    for (int end : {ask_[0], answer_[0], answer_[1]}) ::close(end);
  }
  child(const child&) = delete;
  child& operator=(const child&) = delete;

  // It is in the group and, if requested, in a namespace of its own.
  [[nodiscard]] bool ready() const { return ready_; }

  sukima_capacity_facts facts() {
    sukima_capacity_facts result{};
    EXPECT_EQ(::write(ask_[1], "x", 1), 1);
    EXPECT_EQ(::read(answer_[0], &result, sizeof result), static_cast<ssize_t>(sizeof result));
    return result;
  }

 private:
  [[noreturn]] void run(const fs::path& group_path, bool own_namespace) const {
    ::close(ask_[1]);
    sukima_capacity_options options{};
    options.override_text = "";
    sukima_capacity* handle = sukima_capacity_open(&options);  // before the move, which must be noticed
    const bool is_ready = write_file(group_path / "cgroup.procs", std::to_string(::getpid())) &&
                          (!own_namespace || ::unshare(CLONE_NEWCGROUP) == 0);
    if (::write(answer_[1], is_ready ? "y" : "n", 1) != 1) ::_exit(2);
    char asked = 0;
    while (::read(ask_[0], &asked, 1) == 1) {
      sukima_capacity_facts now{};
      sukima_capacity_refresh(handle, &now);
      if (::write(answer_[1], &now, sizeof now) != static_cast<ssize_t>(sizeof now)) ::_exit(3);
    }
    sukima_capacity_close(handle);
    ::_exit(0);
  }

  int ask_[2] = {-1, -1};
  int answer_[2] = {-1, -1};
  pid_t pid_ = -1;
  bool ready_ = false;
};

TEST(machine, the_facts_agree_with_the_kernel) {
  sukima_capacity_options options{};
  options.override_text = "";
  sukima_capacity_facts facts{};
  ASSERT_EQ(sukima_capacity_read(&options, &facts), 0);
  EXPECT_EQ(facts.online, static_cast<uint32_t>(sysconf(_SC_NPROCESSORS_ONLN)));
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0) << "more than 1024 CPUs";
  EXPECT_EQ(facts.cap, std::min(facts.online, static_cast<uint32_t>(CPU_COUNT(&allowed))));
  EXPECT_GT(facts.usable, 0);
  EXPECT_LE(facts.usable, facts.cap);
}

// A cancelled thread continues to its next cancellation point.
TEST(machine, the_steal_probe_is_not_a_cancellation_point) {
  struct probed {
    int result = -1;
    double taken = 0;
  } here;
  pthread_t thread{};
  const auto probe = [](void* to) -> void* {
    auto* const found = static_cast<probed*>(to);
    pthread_cancel(pthread_self());
    found->result = sukima_capacity_probe_steal(0.001, &found->taken);
    pthread_testcancel();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, nullptr, probe, &here), 0);
  void* end = nullptr;
  ASSERT_EQ(pthread_join(thread, &end), 0);
  EXPECT_EQ(here.result, 0);
  EXPECT_EQ(end, PTHREAD_CANCELED);
}

TEST(machine, quota_of_a_group_of_our_own_and_of_its_parent) {
  const std::optional<hierarchy> where = find_hierarchy("cpu");
  if (!where) GTEST_SKIP() << "no hierarchy of control groups with the controller cpu is mounted here";
  const group outer(where->mount_point / ("sukima-test-" + std::to_string(getpid())));
  if (!outer.made())
    GTEST_SKIP() << "no group can be made in " << where->mount_point << ": " << std::strerror(errno);
  const group inner(outer.path() / "inner");
  ASSERT_TRUE(inner.made());
  if (has_quota(*where) || !outer.set_quota(where->v2, 30000, 20000))
    GTEST_SKIP() << "no quota can be set in " << outer.path();
  child process(inner.path());
  if (!process.ready()) GTEST_SKIP() << "a process cannot be put into such a group";
  sukima_capacity_facts facts = process.facts();
  const double cap = facts.cap;
  EXPECT_EQ(facts.quota, 1.5);
  EXPECT_EQ(facts.quota_period_us, 20000u);
  EXPECT_EQ(facts.usable, std::min(1.5, cap));

  ASSERT_TRUE(outer.set_quota(where->v2, 12000, 20000));
  facts = process.facts();
  EXPECT_EQ(facts.usable, 0.6);
  EXPECT_EQ(facts.binding, SUKIMA_CAPACITY_QUOTA);

  // Of a parent and a child, the smaller one decides.
  ASSERT_TRUE(outer.set_quota(where->v2, 100000, 50000));
  if (!where->v2 && inner.set_quota(false, 35000, 100000)) {
    facts = process.facts();
    EXPECT_EQ(facts.usable, 0.35);
    EXPECT_EQ(facts.quota_period_us, 100000u);
  }
}

// The namespace hides the names of the groups between the mount, which was there before, and the process's
// own.
TEST(machine, quota_seen_from_a_namespace_of_its_own) {
  const std::optional<hierarchy> where = find_hierarchy("cpu");
  if (!where) GTEST_SKIP() << "no hierarchy of control groups with the controller cpu is mounted here";
  const group outer(where->mount_point / ("sukima-test-namespace-" + std::to_string(getpid())));
  if (!outer.made())
    GTEST_SKIP() << "no group can be made in " << where->mount_point << ": " << std::strerror(errno);
  const group inner(outer.path() / "inner");
  ASSERT_TRUE(inner.made());
  if (has_quota(*where) || !outer.set_quota(where->v2, 14000, 20000))
    GTEST_SKIP() << "no quota can be set in " << outer.path();
  child process(inner.path(), true);
  if (!process.ready()) GTEST_SKIP() << "a process cannot be put into such a group";
  const sukima_capacity_facts facts = process.facts();
  EXPECT_EQ(facts.quota, 0.7);
  EXPECT_EQ(facts.quota_period_us, 20000u);
  EXPECT_EQ(facts.usable, 0.7);
}

TEST(machine, cpuset_of_a_group_of_our_own) {
  const std::optional<hierarchy> where = find_hierarchy("cpuset");
  if (!where) GTEST_SKIP() << "no hierarchy of control groups with the controller cpuset is mounted here";
  const group narrow(where->mount_point / ("sukima-test-" + std::to_string(getpid())));
  if (!narrow.made())
    GTEST_SKIP() << "no group can be made in " << where->mount_point << ": " << std::strerror(errno);
  const std::string all =
      read_file(where->mount_point / (where->v2 ? "cpuset.cpus.effective" : "cpuset.cpus"));
  const std::string first = all.substr(0, all.find_first_of(",-\n"));
  ASSERT_TRUE(write_file(narrow.path() / "cpuset.cpus", first));
  ASSERT_TRUE(where->v2 ||
              write_file(narrow.path() / "cpuset.mems", read_file(where->mount_point / "cpuset.mems")));
  child process(narrow.path());
  if (!process.ready()) GTEST_SKIP() << "a process cannot be put into such a group";
  const sukima_capacity_facts facts = process.facts();
  EXPECT_EQ(facts.cpuset, 1u);
  EXPECT_EQ(facts.affinity, 1u);
  EXPECT_EQ(facts.cap, 1u);
  EXPECT_LE(facts.usable, 1);
}

}  // namespace
