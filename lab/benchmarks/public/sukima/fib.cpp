// SPDX-License-Identifier: Apache-2.0
// Recursive fork-join Fibonacci numbers.
#include "memusage.hpp"

#include <sukima/sukima.hpp>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

inline std::size_t fib(auto c, std::size_t n) {
  if (n < 2) return n;
  auto [x, y] = sukima::fork2(
      c, [=](auto below) { return fib(below, n - 1); }, [=](auto below) { return fib(below, n - 2); });
  return x + y;
}

}  // namespace

int main(int argc, char* argv[]) {
  if (argc < 2) {
    std::printf("Usage: fib <n-th fibonacci number requested> [threads]\n");
    return 0;
  }
  const auto n = static_cast<std::size_t>(std::atoi(argv[1]));
  const unsigned threads =
      argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : std::thread::hardware_concurrency() / 2;
  std::printf("threads: %u\n", threads);
  sukima::settings chosen;
  chosen.workers = threads;
  sukima::runtime runtime(chosen);
  runtime.run([](sukima::context c) { return fib(c, 30); });  // warm-up

  const auto start = std::chrono::steady_clock::now();
  const std::size_t result = runtime.run([n](sukima::context c) { return fib(c, n); });
  const auto end = std::chrono::steady_clock::now();
  std::printf(
      "output: %zu\nruns:\n  - iteration_count: 1\n    duration: %lld us\n    max_rss: %ld KiB\n", result,
      static_cast<long long>(std::chrono::duration_cast<std::chrono::microseconds>(end - start).count()),
      peak_memory_usage());
}
