// SPDX-License-Identifier: Apache-2.0
// Bad days of a process that computes: its quota shrinks and grows, its CPU set does, it is stopped and goes
// on, a real-time thread takes a CPU away. Right results, no hang, and the number of workers follows.
#include "own_group.hpp"
#include "support.hpp"

#include <sukima/capacity.h>

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <new>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using support::fib;

/// The time within which the number of workers follows; the runtime looks five times a second.
constexpr auto soon = support::sanitized ? 10s : 3s;

/// The report of the pressed process, in shared memory.
struct shared_report {
  std::atomic<unsigned> workers{0};
  std::atomic<long> runs{0};
  std::atomic<bool> end{false};
};

/// A child process that computes all the time, and checks its results.
class pressed_process {
 public:
  /// \param ready called with the process before it starts its runtime; false ends it
  /// \param size of its computations: 22 takes a tenth of a millisecond, 32 about ten
  explicit pressed_process(const sukima::settings& chosen, const std::function<bool(pid_t)>& ready = {},
                           int size = 22) {
    void* const memory =
        mmap(nullptr, sizeof(shared_report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    report_ = new (memory) shared_report;
    int gate[2];
    if (pipe(gate) != 0) throw std::bad_alloc();
    process_ = fork();
    if (process_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      alarm(110);
      close(gate[1]);
      char go = 0;
      if (read(gate[0], &go, 1) != 1) _exit(2);
      compute(chosen, size);
    }
    close(gate[0]);
    placed_ = !ready || ready(process_);
    if (placed_) [[maybe_unused]]
      const auto written = write(gate[1], "g", 1);
    close(gate[1]);
  }
  ~pressed_process() {
    if (process_ > 0) {
      kill(process_, SIGKILL);
      waitpid(process_, nullptr, 0);
    }
    munmap(report_, sizeof(shared_report));
  }
  pressed_process(const pressed_process&) = delete;
  pressed_process& operator=(const pressed_process&) = delete;

  /// Whether `ready` was true.
  bool is_placed() const { return placed_; }
  pid_t id() const { return process_; }
  long runs() const { return report_->runs.load(); }
  unsigned workers() const { return report_->workers.load(); }

  /// It comes to have so many workers within `soon`.
  bool comes_to(unsigned workers) const {
    const auto deadline = std::chrono::steady_clock::now() + soon;
    while (report_->workers.load() != workers) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(5ms);
    }
    return true;
  }
  /// It continues: some more runs end.
  bool goes_on() const {
    const long before = runs();
    return support::sleep_until([&] { return runs() > before + 3; });
  }
  /// Ends it. 0: all results were right.
  int end() {
    report_->end = true;
    int status = -1;
    waitpid(process_, &status, 0);
    process_ = 0;
    return status;
  }

 private:
  [[noreturn]] void compute(const sukima::settings& chosen, int size) {
    sukima::runtime runtime(chosen);
    const auto right = support::plain_fib(size);
    // Reports the number of workers even while the other threads may have no CPU.
    while (!report_->end) {
      if (runtime.run([=](sukima::context c) { return fib(c, size); }) != right) _exit(1);
      const std::vector<int> ones(1000, 1);
      const int sum = runtime.run([&](sukima::context c) {
        return sukima::parallel_reduce(c, ones, 0, [](int one) { return one; }, std::plus{});
      });
      if (sum != 1000) _exit(1);
      report_->workers = runtime.workers_now();
      ++report_->runs;
    }
    runtime.shutdown();
    _exit(0);
  }

  shared_report* report_ = nullptr;
  pid_t process_ = 0;
  bool placed_ = false;
};

sukima::settings two_at_most() {
  sukima::settings s = support::with_workers(2);
  s.elastic = true;
  return s;
}

int usable_cpus() {
  sukima_capacity_facts facts;
  sukima_capacity_read(nullptr, &facts);
  return static_cast<int>(facts.usable);
}

class pressure : public testing::Test {
 protected:
  void SetUp() override {
    if (usable_cpus() < 2) GTEST_SKIP() << "needs two CPUs";
  }
};
class pressure_by_group : public pressure, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(control_groups, pressure_by_group, testing::Values(1, 2),
                         [](const auto& version) { return "version_" + std::to_string(version.param); });

TEST_P(pressure_by_group, workers_follow_a_quota_that_shrinks_and_grows) {
  const int version = GetParam();
  const support::own_group group(version, "cpu");
  if (!group || !group.set_quota(version, 2.0)) GTEST_SKIP() << "no right to make such a group";
  pressed_process pressed(two_at_most(), [&](pid_t process) { return group.add_process(process); });
  if (!pressed.is_placed()) GTEST_SKIP() << "a process cannot be put into such a group";
  EXPECT_TRUE(pressed.comes_to(2));
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(group.set_quota(version, 0.1));
    EXPECT_TRUE(pressed.comes_to(1)) << "still " << pressed.workers();
    EXPECT_TRUE(pressed.goes_on());
    ASSERT_TRUE(group.set_quota(version, 2.0));
    EXPECT_TRUE(pressed.comes_to(2)) << "still " << pressed.workers();
    EXPECT_TRUE(pressed.goes_on());
  }
  EXPECT_EQ(pressed.end(), 0);
}

/// Processes that never block, in the group of this one.
class hogs {
 public:
  explicit hogs(int count) {
    for (int i = 0; i < count; ++i) {
      const pid_t process = fork();
      if (process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        while (true) std::atomic_signal_fence(std::memory_order_seq_cst);
      }
      processes_.push_back(process);
    }
  }
  ~hogs() { end(); }
  hogs(const hogs&) = delete;
  hogs& operator=(const hogs&) = delete;

  void end() {
    for (const pid_t process : std::exchange(processes_, {})) {
      kill(process, SIGKILL);
      waitpid(process, nullptr, 0);
    }
  }

 private:
  std::vector<pid_t> processes_;
};

// A group of a tenth of the weight gets no more CPU with two workers than with one while hogs keep all CPUs
// busy, if its workers compute all the time: those that sleep for a moment a thousand times a second get more
// than their share from Linux.
TEST_P(pressure_by_group, workers_follow_the_neighbours_if_they_are_to) {
  const support::own_group group(GetParam(), "cpu");
  if (!group || !group.set_small_weight(GetParam())) GTEST_SKIP() << "no right to make such a group";
  sukima::settings chosen = two_at_most();
  chosen.neighbours = true;
  hogs beside(2 * usable_cpus());
  pressed_process pressed(chosen, [&](pid_t process) { return group.add_process(process); }, 32);
  if (!pressed.is_placed()) GTEST_SKIP() << "a process cannot be put into such a group";
  EXPECT_TRUE(support::sleep_until([&] { return pressed.workers() == 1; }));
  EXPECT_TRUE(pressed.goes_on());
  beside.end();
  EXPECT_TRUE(support::sleep_until([&] { return pressed.workers() == 2; }));
  EXPECT_EQ(pressed.end(), 0);
}

TEST_P(pressure_by_group, workers_follow_a_cpu_set_that_shrinks_and_grows) {
  const support::own_group group(GetParam(), "cpuset");
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  std::vector<std::string> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE && cpus.size() < 2; ++cpu)
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &allowed)) cpus.push_back(std::to_string(cpu));
  if (cpus.size() < 2) GTEST_SKIP() << "needs two CPUs";
  const std::string both = cpus[0] + "," + cpus[1];
  if (!group || !group.set("cpuset.cpus", both)) GTEST_SKIP() << "no right to make such a group";
  group.set("cpuset.mems", "0");  // version 1 takes no process without it
  pressed_process pressed(two_at_most(), [&](pid_t process) { return group.add_process(process); });
  if (!pressed.is_placed()) GTEST_SKIP() << "a process cannot be put into such a group";
  EXPECT_TRUE(pressed.comes_to(2));
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(group.set("cpuset.cpus", cpus[i % 2 == 0 ? 1 : 0]));
    EXPECT_TRUE(pressed.comes_to(1)) << "still " << pressed.workers();
    EXPECT_TRUE(pressed.goes_on());
    ASSERT_TRUE(group.set("cpuset.cpus", both));
    EXPECT_TRUE(pressed.comes_to(2)) << "still " << pressed.workers();
    EXPECT_TRUE(pressed.goes_on());
  }
  EXPECT_EQ(pressed.end(), 0);
}

TEST_F(pressure, process_that_was_stopped_goes_on) {
  pressed_process pressed(two_at_most());
  EXPECT_TRUE(pressed.goes_on());
  for (int i = 0; i < 8; ++i) {
    ASSERT_EQ(kill(pressed.id(), SIGSTOP), 0);
    int status = 0;
    ASSERT_EQ(waitpid(pressed.id(), &status, WUNTRACED), pressed.id());
    ASSERT_TRUE(WIFSTOPPED(status));
    const long stopped_at = pressed.runs();
    std::this_thread::sleep_for(i * 20ms);
    EXPECT_EQ(pressed.runs(), stopped_at);
    ASSERT_EQ(kill(pressed.id(), SIGCONT), 0);
    EXPECT_TRUE(pressed.goes_on());
  }
  EXPECT_EQ(pressed.end(), 0);
}

/// A process with a real-time thread that computes on one CPU for some time. 0: there is no right to it.
pid_t start_real_time_loop(int cpu, std::chrono::milliseconds length) {
  int ready[2];
  if (pipe(ready) != 0) return 0;
  const pid_t process = fork();
  if (process == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(cpu), &one);
    const sched_param priority{1};
    const bool allowed =
        sched_setaffinity(0, sizeof one, &one) == 0 && sched_setscheduler(0, SCHED_FIFO, &priority) == 0;
    if (!allowed || write(ready[1], "r", 1) != 1) _exit(1);
    const auto end = std::chrono::steady_clock::now() + length;
    while (std::chrono::steady_clock::now() < end) {
    }
    _exit(0);
  }
  close(ready[1]);
  char word = 0;
  const bool runs = read(ready[0], &word, 1) == 1;
  close(ready[0]);
  if (runs) return process;
  waitpid(process, nullptr, 0);
  return 0;
}

TEST_F(pressure, worker_that_a_real_time_thread_starves_delays_but_does_not_hang) {
  struct protocol {
    unsigned published;
    unsigned interval_us;
  };
  for (const protocol& p : {protocol{1, 0}, protocol{0, 0}, protocol{0, 100}}) {
    sukima::settings s = two_at_most();
    s.pin = sukima::pin_policy::cpu;  // or the kernel would move the worker to the other CPU
    s.published_tasks = p.published;
    s.request_interval_us = p.interval_us;
    pressed_process pressed(s);
    EXPECT_TRUE(pressed.goes_on());
    cpu_set_t allowed;
    ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    int second = -1;  // the CPU of worker 1
    for (int cpu = 0, seen = 0; cpu < CPU_SETSIZE && seen < 2; ++cpu)
      if (CPU_ISSET(static_cast<std::size_t>(cpu), &allowed) && ++seen == 2) second = cpu;
    const pid_t loop = start_real_time_loop(second, 500ms);
    if (loop == 0) GTEST_SKIP() << "no right to real-time threads";
    int status = -1;
    EXPECT_EQ(waitpid(loop, &status, 0), loop);
    EXPECT_EQ(status, 0);
    EXPECT_TRUE(pressed.goes_on());
    EXPECT_EQ(pressed.end(), 0);
  }
}

}  // namespace
