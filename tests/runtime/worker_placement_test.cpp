// SPDX-License-Identifier: Apache-2.0
// Workers that each stay on a CPU while others compute, and move again afterwards.
#include "support.hpp"

#include <sukima/capacity.h>

#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <mutex>
#include <optional>
#include <vector>

namespace {

using namespace std::chrono_literals;
using support::fib;

cpu_set_t own_cpus() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  EXPECT_EQ(sched_getaffinity(0, sizeof cpus, &cpus), 0);
  return cpus;
}

/// A busy loop in a process of its own on each CPU of this thread, or on all but the first few.
class busy_neighbours {
 public:
  explicit busy_neighbours(int spared = 0) {
    const cpu_set_t cpus = own_cpus();
    for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (!CPU_ISSET(cpu, &cpus) || spared-- > 0) continue;
      const pid_t process = fork();
      if (process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(100);
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        sched_setaffinity(0, sizeof one, &one);
        for (;;) {
        }
      }
      processes_.push_back(process);
    }
  }
  ~busy_neighbours() {
    for (const pid_t process : processes_) {
      kill(process, SIGKILL);
      waitpid(process, nullptr, 0);
    }
  }
  busy_neighbours(const busy_neighbours&) = delete;
  busy_neighbours& operator=(const busy_neighbours&) = delete;

 private:
  std::vector<pid_t> processes_;
};

sukima::settings a_worker_for_each_cpu(sukima::pin_policy pin) {
  const cpu_set_t cpus = own_cpus();
  sukima::settings s;
  s.workers = static_cast<unsigned>(CPU_COUNT(&cpus));
  s.elastic = true;
  s.pin = pin;
  return s;
}

bool was_decided(const sukima::runtime& r, unsigned after) {
  return std::ranges::any_of(r.decisions(), [&](const sukima::decision& d) {
    return d.setting == "assigned_cpu" && d.after == after;
  });
}

/// A runtime with a worker for each CPU; nothing where there is one CPU only, or a quota.
class workers_on_all_cpus : public testing::Test {
 protected:
  void SetUp() override {
    if (cpus < 2) GTEST_SKIP() << "needs a second CPU";
    started.emplace(a_worker_for_each_cpu(sukima::pin_policy::adaptive));
    if (started->workers_now() != static_cast<unsigned>(cpus)) GTEST_SKIP() << "a quota allows fewer workers";
  }

  const cpu_set_t before = own_cpus();
  const int cpus = CPU_COUNT(&before);
  std::optional<sukima::runtime> started;
  const std::chrono::steady_clock::time_point deadline =
      std::chrono::steady_clock::now() + (support::sanitized ? 60s : 30s);
};

TEST_F(workers_on_all_cpus, holds_workers_while_cpu_is_short_and_threads_leave_as_they_came) {
  sukima::runtime& runtime = *started;
  std::atomic<bool> held{false};
  {
    const busy_neighbours loops;
    while (!held && std::chrono::steady_clock::now() < deadline) {
      const auto soon = std::chrono::steady_clock::now() + 1s;
      runtime.run([&](sukima::context c) {
        while (!held && std::chrono::steady_clock::now() < soon) {
          EXPECT_EQ(fib(c, support::sanitized ? 26 : 33), support::sanitized ? 121393 : 3524578);
          const cpu_set_t now = own_cpus();
          if (CPU_COUNT(&now) == 1) held = true;
        }
      });
      const cpu_set_t after = own_cpus();
      EXPECT_TRUE(CPU_EQUAL(&before, &after));
    }
    EXPECT_TRUE(held);
    EXPECT_TRUE(was_decided(runtime, 1));
  }
  // Alone again, with one long task: pinned workers may move.
  EXPECT_TRUE(support::sleep_until([&] {
    runtime.run([](sukima::context c) { return fib(c, 26); });
    return was_decided(runtime, 0);
  }));
}

/// CPUs on which a process that is started just now may run, as it says itself.
int cpus_of_a_child() {
  const pid_t process = fork();
  if (process == 0)
    _exit([] {
      const cpu_set_t cpus = own_cpus();
      return CPU_COUNT(&cpus);
    }());
  int status = 0;
  waitpid(process, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(workers_on_all_cpus, processes_that_a_task_starts_may_run_everywhere) {
  sukima::runtime& runtime = *started;
  const busy_neighbours loops;
  int in_child = -1;
  int outside = -1;
  while (outside < 0 && std::chrono::steady_clock::now() < deadline) {
    const auto soon = std::chrono::steady_clock::now() + 1s;
    runtime.run([&](sukima::context c) {
      while (outside < 0 && std::chrono::steady_clock::now() < soon) {
        fib(c, support::sanitized ? 24 : 30);
        const cpu_set_t now = own_cpus();
        if (CPU_COUNT(&now) != 1) continue;
        in_child = cpus_of_a_child();
        outside = sukima::blocking(c, [] {
          const cpu_set_t inside = own_cpus();
          return CPU_COUNT(&inside);
        });
      }
    });
  }
  EXPECT_EQ(in_child, cpus);
  EXPECT_EQ(outside, cpus);
}

/// Short loops one after the other, each of which waits for all workers that took a part.
TEST_F(workers_on_all_cpus, a_worker_that_waits_gives_its_cpu_to_one_that_has_none) {
  sukima::runtime& runtime = *started;
  const busy_neighbours loops(1);
  std::uint64_t given = 0;
  while (given < 20 && std::chrono::steady_clock::now() < deadline) {
    const auto soon = std::chrono::steady_clock::now() + 200ms;
    runtime.run([&](sukima::context c) {
      while (std::chrono::steady_clock::now() < soon) {
        std::atomic<long> sum{0};
        sukima::parallel_for(c, 0, 100, [&](sukima::context below, int) { sum += fib(below, 10); });
        ASSERT_EQ(sum, 5500);
      }
    });
    const cpu_set_t after = own_cpus();
    ASSERT_TRUE(CPU_EQUAL(&before, &after));
    given = runtime.statistics().cpus_lent;
  }
  EXPECT_GE(given, 20u);
}

TEST(worker_placement, leaves_threads_alone_that_the_program_placed) {
  const cpu_set_t before = own_cpus();
  if (CPU_COUNT(&before) < 2) GTEST_SKIP() << "needs a second CPU";
  sukima::runtime runtime(a_worker_for_each_cpu(sukima::pin_policy::adaptive));
  std::size_t first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  {
    sched_setaffinity(0, sizeof before, &before);
    const busy_neighbours loops;
    sched_setaffinity(0, sizeof one, &one);
    const auto end = std::chrono::steady_clock::now() + 1s;
    runtime.run([&](sukima::context c) {
      while (std::chrono::steady_clock::now() < end) EXPECT_EQ(fib(c, 22), 17711);
    });
  }
  const cpu_set_t after = own_cpus();
  sched_setaffinity(0, sizeof before, &before);
  EXPECT_TRUE(CPU_EQUAL(&after, &one));
  EXPECT_FALSE(was_decided(runtime, 1));
}

TEST(worker_placement, can_be_switched_off) {
  sukima::runtime runtime(a_worker_for_each_cpu(sukima::pin_policy::none));
  const busy_neighbours loops;
  const auto end = std::chrono::steady_clock::now() + 1s;
  runtime.run([&](sukima::context c) {
    while (std::chrono::steady_clock::now() < end) EXPECT_EQ(fib(c, 22), 17711);
  });
  EXPECT_FALSE(was_decided(runtime, 1));
}

/// A thread inherits the affinity of the thread that starts it, which may be a worker pinned to one CPU.
TEST(worker_placement, a_thread_that_a_bound_worker_starts_gets_its_own_cpu) {
  const cpu_set_t all = own_cpus();
  const int cpus = CPU_COUNT(&all);
  if (cpus < 2) GTEST_SKIP() << "needs a second CPU";
  std::mutex lock;
  std::vector<cpu_set_t> started;  // in the order of the ranks, which begin at 1
  sukima::settings s = support::with_workers(2);
  s.pin = sukima::pin_policy::cpu;
  s.on_worker_start = [&](int /*worker*/) {
    const std::lock_guard hold(lock);
    started.push_back(own_cpus());
  };
  const auto another_has_started = [&] {
    const std::lock_guard hold(lock);
    return started.size() == 2;
  };
  sukima::runtime two(s);
  two.run([&](sukima::context c) {
    sukima::fork2(
        c, [&](sukima::context below) { EXPECT_TRUE(support::poll_until(below, another_has_started)); },
        [&] { sukima::blocking([&] { EXPECT_TRUE(support::sleep_until(another_has_started)); }); });
  });
  ASSERT_EQ(started.size(), 2u);
  std::size_t second = 0;  // the CPU of rank 2
  for (int before = 2 % cpus; !CPU_ISSET(second, &all) || before-- > 0;) ++second;
  EXPECT_EQ(CPU_COUNT(&started[1]), 1);
  EXPECT_TRUE(CPU_ISSET(second, &started[1]));
}

}  // namespace
