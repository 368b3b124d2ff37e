// SPDX-License-Identifier: Apache-2.0
// Can a waiting thread hand its turn to the thread that it waits for?
// Measures the CPU of a thread beside a busy process on its CPU, for each way in which another thread waits
// for it.
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "harness/arguments.hpp"

namespace {

enum class way { futex, inherit, yield, spin };
struct row {
  way how;
  bool real_time;  ///< the waiting thread; one that did not sleep would take the CPU for itself
  const char* name;
};
constexpr std::array rows{row{way::futex, false, "sleep on a futex"},
                          row{way::inherit, false, "sleep on a priority-inheriting futex"},
                          row{way::yield, false, "sched_yield"},
                          row{way::spin, false, "spin"},
                          row{way::futex, true, "real-time: a futex"},
                          row{way::inherit, true, "real-time: a priority-inheriting futex"}};

void stay_on(int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(cpu), &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0) std::perror("bench-turn: sched_setaffinity");
}

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// False if this process may not use real-time threads.
bool set_real_time(bool wanted) {
  const sched_param priority{wanted ? 1 : 0};
  return sched_setscheduler(0, wanted ? SCHED_FIFO : SCHED_OTHER, &priority) == 0;
}

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
  return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation | FUTEX_PRIVATE_FLAG, value,
                 nullptr, nullptr, 0);
}

/// The CPU in a second that the awaited thread gets on `cpu`, while this thread waits for it on `own_cpu`.
double share_of_awaited(const row& waiting, int cpu, int own_cpu, double seconds) {
  const way how = waiting.how;
  std::atomic<std::uint32_t> word{0};
  std::atomic<bool> begun{false};
  std::atomic<bool> done{false};
  double share = 0;
  std::thread awaited([&] {
    stay_on(cpu);
    const auto self = static_cast<std::uint32_t>(syscall(SYS_gettid));
    if (how == way::inherit) word = self;  // a lock that this thread holds
    const double before = cpu_seconds();
    begun = true;
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (std::chrono::steady_clock::now() < end) {
    }
    share = (cpu_seconds() - before) / seconds;
    done = true;
    if (how == way::futex) futex(word, FUTEX_WAKE, 1);
    std::uint32_t mine = self;
    if (how == way::inherit && !word.compare_exchange_strong(mine, 0)) futex(word, FUTEX_UNLOCK_PI, 0);
  });
  stay_on(own_cpu);
  while (!begun) std::this_thread::yield();
  if (waiting.real_time) set_real_time(true);
  while (!done) {
    if (how == way::futex) futex(word, FUTEX_WAIT, 0);
    if (how == way::inherit && futex(word, FUTEX_LOCK_PI, 0) == 0) futex(word, FUTEX_UNLOCK_PI, 0);
    if (how == way::yield) sched_yield();
  }
  if (waiting.real_time) set_real_time(false);
  awaited.join();
  return share;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  bench::arguments given(
      "Measures whether a waiting thread can hand its turn to the thread that it waits for.");
  int rounds = 5;
  double seconds = 0.5;
  given.number("--rounds", rounds, 1, 1000, "rounds, of which the median is printed (default: 5)");
  given.number("--seconds", seconds, 0.05, 60.0, "seconds of each measurement (default: 0.5)");
  try {
    if (!given.parse(argc, argv)) return 0;
  } catch (const bench::usage_mistake& e) {
    std::fprintf(stderr, "bench-turn: %s; --help shows the options\n", e.what());
    return 2;
  }
  cpu_set_t cpus;
  if (sched_getaffinity(0, sizeof cpus, &cpus) != 0 || CPU_COUNT(&cpus) < 2) {
    std::fputs("bench-turn: needs two CPUs in its affinity mask; give it more, as with taskset\n", stderr);
    return 1;
  }
  std::vector<int> two;
  for (int cpu = 0; two.size() < 2; ++cpu)
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &cpus)) two.push_back(cpu);
  const pid_t busy = fork();
  if (busy == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    stay_on(two[1]);
    for (;;) {
    }
  }
  std::printf(
      "CPUs that the awaited thread gets beside a busy process, the waiting thread on\n%-38s %9s %9s\n", "",
      "other CPU", "same CPU");
  const bool may_be_real_time = set_real_time(true) && set_real_time(false);
  for (const row& waiting : rows) {
    if (waiting.real_time && !may_be_real_time) {
      std::printf("%-38s no right to real-time threads\n", waiting.name);
      continue;
    }
    std::array<std::vector<double>, 2> shares;
    for (int round = 0; round < rounds; ++round)
      for (std::size_t place = 0; place < 2; ++place)
        shares[place].push_back(share_of_awaited(waiting, two[1], two[place], seconds));
    std::printf("%-38s %9.3f %9.3f\n", waiting.name, median(shares[0]), median(shares[1]));
  }
  kill(busy, SIGKILL);
  waitpid(busy, nullptr, 0);
  return 0;
}
