// SPDX-License-Identifier: Apache-2.0
// The processes of a cell: our program and the hogs.
#include "truth/load.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <system_error>
#include <thread>
#include <vector>

namespace sukima::truth {

namespace {

constexpr std::uint64_t milliseconds = 1'000'000;

std::uint64_t read_clock(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

/// Work that no compiler removes, for some microseconds.
void work() {
  static thread_local volatile unsigned value = 1;
  for (int i = 0; i < 20'000; i++) value = value * 3 + 1;
}

template <class Condition>
[[noreturn]] void run_while(Condition wanted, behaviour how) {
  while (true) {
    if (!wanted()) {
      sleep_until_ns(monotonic_ns() + 5 * milliseconds);
      continue;
    }
    switch (how) {
      case behaviour::always:
        work();
        break;
      case behaviour::on_off: {
        const std::uint64_t end = monotonic_ns() + 50 * milliseconds;
        while (monotonic_ns() < end) work();
        sleep_until_ns(end + 50 * milliseconds);
        break;
      }
      case behaviour::blocking: {
        const std::uint64_t end = read_clock(CLOCK_THREAD_CPUTIME_ID) + 5 * milliseconds;
        while (read_clock(CLOCK_THREAD_CPUTIME_ID) < end) work();
        sleep_until_ns(monotonic_ns() + 5 * milliseconds);
        break;
      }
    }
  }
}

template <class Body>
pid_t start(bool own_session, Body body) {
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child != 0) return child;
  // Ends with its parent.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  if (own_session) setsid();
  body();
  _exit(0);
}

}  // namespace

std::uint64_t monotonic_ns() { return read_clock(CLOCK_MONOTONIC); }

void sleep_until_ns(std::uint64_t time_ns) {
  const timespec until{static_cast<time_t>(time_ns / 1'000'000'000),
                       static_cast<long>(time_ns % 1'000'000'000)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

pid_t start_program(const orders& shared, int threads, behaviour how, bool own_session) {
  return start(own_session, [&] {
    std::vector<std::thread> others;
    const auto body = [&](int number) {
      run_while([&] { return number < shared.active_threads.load(std::memory_order_relaxed); }, how);
    };
    for (int number = 1; number < threads; number++) others.emplace_back(body, number);
    body(0);
  });
}

pid_t start_hog(const orders& shared, behaviour how, int nice_value, bool own_session) {
  return start(own_session, [&] {
    if (nice_value != 0 && setpriority(PRIO_PROCESS, 0, nice_value) != 0) _exit(1);
    run_while([&] { return shared.hogs_run.load(std::memory_order_relaxed) != 0; }, how);
  });
}

void end_process(pid_t process) {
  kill(process, SIGKILL);
  while (waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace sukima::truth
