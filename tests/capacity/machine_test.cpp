// SPDX-License-Identifier: Apache-2.0
// The running machine: a control group of our own with a quota, a process in it, and a change while it runs.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>

#include <sukima/capacity.h>

namespace {

namespace fs = std::filesystem;

struct hierarchy {
  fs::path mount_point;
  bool v2 = false;
};

bool write_file(const fs::path& path, const std::string& text) {
  std::ofstream out(path);
  out << text;
  out.flush();
  return out.good();
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// A hierarchy in which quotas can be given to new groups at the top: the first of /proc/mounts.
std::optional<hierarchy> find_hierarchy(const std::string& controller) {
  std::ifstream mounts("/proc/mounts");
  std::string device, mount_point, type, options, rest;
  while (mounts >> device >> mount_point >> type >> options && std::getline(mounts, rest)) {
    if (type == "cgroup" && ("," + options + ",").find("," + controller + ",") != std::string::npos) {
      return hierarchy{mount_point, false};
    }
    if (type == "cgroup2") {
      const std::string enabled = " " + read_file(mount_point + "/cgroup.subtree_control") + " ";
      if (enabled.find(" " + controller + " ") != std::string::npos ||
          enabled.find(" " + controller + "\n") != std::string::npos) {
        return hierarchy{mount_point, true};
      }
    }
  }
  return std::nullopt;
}

// A group of our own, removed at the end.
class group {
 public:
  explicit group(fs::path path) : path_(std::move(path)) { made_ = ::mkdir(path_.c_str(), 0755) == 0; }
  ~group() {
    // A group cannot be removed before the kernel has finished with its last process.
    for (int i = 0; made_ && i < 200 && ::rmdir(path_.c_str()) != 0; i++) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  group(const group&) = delete;
  group& operator=(const group&) = delete;

  [[nodiscard]] bool made() const { return made_; }
  [[nodiscard]] const fs::path& path() const { return path_; }

  [[nodiscard]] bool set_quota(bool v2, int quota_us, int period_us) const {
    if (v2) return write_file(path_ / "cpu.max", std::to_string(quota_us) + " " + std::to_string(period_us));
    return write_file(path_ / "cpu.cfs_period_us", std::to_string(period_us)) &&
           write_file(path_ / "cpu.cfs_quota_us", std::to_string(quota_us));
  }

 private:
  fs::path path_;
  bool made_ = false;
};

// A child that moves itself into a group and tells its facts whenever it is asked.
class child {
 public:
  explicit child(const fs::path& group_path, bool own_namespace = false) {
    if (::pipe(ask_) != 0 || ::pipe(answer_) != 0) throw std::runtime_error("no pipe");
    pid_ = ::fork();
    if (pid_ == 0) run(group_path, own_namespace);
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
    sukima_capacity* handle = sukima_capacity_open(&options);  // before the move: it has to be noticed
    if (!write_file(group_path / "cgroup.procs", std::to_string(::getpid()))) ::_exit(2);
    if (own_namespace && ::unshare(CLONE_NEWCGROUP) != 0) ::_exit(4);
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
};

TEST(machine, the_facts_agree_with_the_kernel) {
  sukima_capacity_options options{};
  options.override_text = "";
  sukima_capacity_facts facts{};
  ASSERT_EQ(sukima_capacity_read(&options, &facts), 0);
  EXPECT_EQ(facts.online, static_cast<uint32_t>(sysconf(_SC_NPROCESSORS_ONLN)));
  EXPECT_EQ(facts.cap, std::thread::hardware_concurrency());
  EXPECT_GT(facts.usable, 0);
  EXPECT_LE(facts.usable, facts.cap);
}

TEST(machine, quota_of_a_group_of_our_own_and_of_its_parent) {
  const std::optional<hierarchy> where = find_hierarchy("cpu");
  if (!where) GTEST_SKIP() << "no hierarchy of control groups with the controller cpu is mounted here";
  const group outer(where->mount_point / ("sukima-test-" + std::to_string(getpid())));
  if (!outer.made())
    GTEST_SKIP() << "no group can be made in " << where->mount_point << ": " << std::strerror(errno);
  const group inner(outer.path() / "inner");
  ASSERT_TRUE(inner.made());
  if (!outer.set_quota(where->v2, 30000, 20000)) GTEST_SKIP() << "no quota can be set in " << outer.path();
  child process(inner.path());
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
  if (!outer.set_quota(where->v2, 14000, 20000)) GTEST_SKIP() << "no quota can be set in " << outer.path();
  child process(inner.path(), true);
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
  const sukima_capacity_facts facts = process.facts();
  EXPECT_EQ(facts.cpuset, 1u);
  EXPECT_EQ(facts.affinity, 1u);
  EXPECT_EQ(facts.cap, 1u);
  EXPECT_LE(facts.usable, 1);
}

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
      while (runs) {
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

// Two groups that are bound to one CPU: their large weights keep everybody else off it.
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
