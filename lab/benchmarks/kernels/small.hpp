// SPDX-License-Identifier: Apache-2.0
// The branches of the small benchmarks: empty, with a given CPU time, or with a little arithmetic.
#pragma once

#include <time.h>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <string>
#include <thread>

namespace kernels {

/// Returns the CPU seconds of the calling thread.
inline double thread_cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

/// Computes until this thread has used that much CPU time. Two such calls on one CPU take twice as long.
/// Never polls.
inline void use_cpu(double seconds) {
  const double end = thread_cpu_seconds() + seconds;
  volatile std::uint64_t x = 1;
  while (thread_cpu_seconds() < end)
    for (int i = 0; i < 1000; ++i) x = x * 6364136223846793005U + 1;
}

inline void sleep_milliseconds(std::int64_t ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

/// An empty call that the compiler keeps.
[[gnu::noinline]] inline void nothing() { asm volatile(""); }

/// About 0.2 µs of work.
[[gnu::noinline]] inline std::uint64_t short_work(std::uint64_t x) {
  for (int i = 0; i < 100; ++i) x ^= x << 13, x ^= x >> 7, x ^= x << 17;
  return x;
}

/// Returns a size in bytes from /proc/self/status: "VmRSS" (resident now) or "VmHWM" (the maximum so far).
inline double status_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name + ":")) return std::stod(line.substr(name.size() + 1)) * 1024;
  return 0;
}

}  // namespace kernels
