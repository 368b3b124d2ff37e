// SPDX-License-Identifier: Apache-2.0
// The running machine: estimates beside a neighbour. bound_test.cpp has the same on made-up machines.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>

#include <sukima/capacity.h>

#include "own_group.hpp"

namespace {

using namespace sukima_test;

// A child in a group, bound to one CPU, that runs or sleeps until it is ended.
class bound_child {
 public:
  bound_child(const fs::path& group_path, int cpu, bool runs) {
    int ready[2];
    if (::pipe(ready) != 0) throw std::runtime_error("no pipe");
    pid_ = ::fork();
    if (pid_ == 0) {
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      const bool done = write_file(group_path / "cgroup.procs", std::to_string(::getpid())) &&
                        ::sched_setaffinity(0, sizeof one, &one) == 0;
      if (::write(ready[1], done ? "y" : "n", 1) != 1) ::_exit(2);
      volatile const bool for_ever = runs;
      while (for_ever) {
      }
      for (;;) ::pause();
    }
    char answer = 'n';
    ok_ = ::read(ready[0], &answer, 1) == 1 && answer == 'y';
    for (const int end : ready) ::close(end);
  }
  ~bound_child() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  bound_child(const bound_child&) = delete;
  bound_child& operator=(const bound_child&) = delete;
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  bool ok_ = false;
};

// Two groups that are bound to one CPU: their large weights keep all other programs off it.
TEST(machine, a_neighbour_that_is_bound_to_our_cpu_takes_its_share) {
  const std::optional<hierarchy> where = find_hierarchy("cpu");
  if (!where) GTEST_SKIP() << "no hierarchy of control groups with the controller cpu is mounted here";
  const std::string name = "sukima-test-" + std::to_string(getpid());
  const group ours(where->mount_point / (name + "-ours"));
  const group other(where->mount_point / (name + "-other"));
  if (!ours.made() || !other.made())
    GTEST_SKIP() << "no group can be made in " << where->mount_point << ": " << std::strerror(errno);
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  int cpu = 0;
  while (!CPU_ISSET(cpu, &allowed)) cpu++;
  const auto weigh = [&](const group& one, int times) {
    return write_file(one.path() / (where->v2 ? "cpu.weight" : "cpu.shares"),
                      std::to_string(times * (where->v2 ? 2500 : 25000)));
  };
  ASSERT_TRUE(weigh(ours, 1) && weigh(other, 1));
  const bound_child sleeper(ours.path(), cpu, false);
  const bound_child hog(other.path(), cpu, true);
  ASSERT_TRUE(sleeper.ok() && hog.ok());
  sukima_capacity_options options{};
  options.override_text = "";
  options.pid = sleeper.pid();
  for (const int times : {1, 3}) {
    SCOPED_TRACE(times);
    ASSERT_TRUE(weigh(other, times));
    sukima_capacity_estimate one{};
    ASSERT_EQ(sukima_capacity_estimate_once(&options, 1, 1.2, &one), 0);
    if (one.basis == SUKIMA_CAPACITY_BASIS_BLIND) GTEST_SKIP() << "the groups above are hidden here";
    EXPECT_EQ(one.basis, SUKIMA_CAPACITY_BASIS_TREE);
    EXPECT_NEAR(one.usable, 1.0 / (1 + times), 0.1);
  }
}

}  // namespace
