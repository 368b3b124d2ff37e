// SPDX-License-Identifier: Apache-2.0
// Busy loops, on purpose. Two uses:
//
//   bench-hog [--cpu N] [--on MS --off MS]   one loop until it is killed: a neighbour of a program
//   bench-hog --loops N --seconds S          N loops for S seconds; prints the CPU time that they got, as
//                                            {"seconds":1.000,"cpu_seconds":1.334}
//
// Loops that run and pause do so by the monotonic clock, so that several processes are in step.
#include <errno.h>
#include <sched.h>
#include <time.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <thread>
#include <vector>

#include "harness/arguments.hpp"

namespace {

using clock_type = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// About 5 µs of arithmetic.
void compute() {
  volatile unsigned long x = 1;
  for (int i = 0; i < 2000; ++i) x = x * 6364136223846793005UL + 1;
}

double process_cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

bool stay_on(int cpu) {
  if (cpu < 0) return true;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  if (sched_setaffinity(0, sizeof set, &set) == 0) return true;
  std::cerr << "bench-hog: cannot run on CPU " << cpu << ": " << std::strerror(errno) << "\n";
  return false;
}

/// Computes for ever, or in turns computes for `on` and sleeps for `off`.
[[noreturn]] void be_a_neighbour(milliseconds on, milliseconds off) {
  if (off.count() == 0)
    for (;;) compute();
  const auto period = on + off;
  for (;;) {
    const auto begin = clock_type::time_point(clock_type::now().time_since_epoch() / period * period);
    while (clock_type::now() < begin + on) compute();
    std::this_thread::sleep_until(begin + period);
  }
}

/// Measures the CPU time that the loops get together.
void measure(int loops, double seconds) {
  std::barrier together(loops);
  std::atomic<bool> over{false};
  std::vector<std::jthread> others;
  others.reserve(static_cast<std::size_t>(loops - 1));
  for (int i = 1; i < loops; ++i) {
    others.emplace_back([&] {
      together.arrive_and_wait();
      while (!over.load(std::memory_order_relaxed)) compute();
    });
  }
  together.arrive_and_wait();
  const auto start = clock_type::now();
  const double cpu_before = process_cpu_seconds();
  const auto passed = [&] { return std::chrono::duration<double>(clock_type::now() - start).count(); };
  while (passed() < seconds) compute();
  const double cpu = process_cpu_seconds() - cpu_before, wall = passed();
  over = true;
  std::printf("{\"seconds\":%.6f,\"cpu_seconds\":%.6f}\n", wall, cpu);
}

}  // namespace

int main(int argc, char** argv) {
  bench::arguments given(
      "Keeps CPUs busy: until it is killed, or for a time in which it measures how much CPU it gets.");
  int cpu = -1, loops = 0;
  long on = 0, off = 0;
  double seconds = 1;
  given.number("--cpu", cpu, 0, 1023, "the CPU to stay on (any, if not given)");
  given.number("--on", on, 1, 60'000, "milliseconds of computing, by turns with --off");
  given.number("--off", off, 1, 60'000, "milliseconds of sleep");
  given.number("--loops", loops, 1, 4096, "measure the CPU time that so many loops get");
  given.number("--seconds", seconds, 0.001, 3600.0, "how long to measure");
  try {
    if (!given.parse(argc, argv)) return 0;
    if (off != 0 && on == 0) throw bench::usage_mistake("--off needs --on");
    if (!stay_on(cpu)) return 2;
    if (loops == 0) be_a_neighbour(milliseconds(on), milliseconds(off));
    measure(loops, seconds);
  } catch (const bench::usage_mistake& e) {
    std::cerr << "bench-hog: " << e.what() << "; --help shows the options\n";
    return 2;
  } catch (const std::exception& e) {
    std::cerr << "bench-hog: " << e.what() << "\n";
    return 1;
  }
  return 0;
}
