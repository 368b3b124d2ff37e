// SPDX-License-Identifier: Apache-2.0
// The skynet benchmark (https://github.com/atemerev/skynet) with 100 million leaves: each node forks ten.
#include "memusage.hpp"

#include <sukima/sukima.hpp>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>

namespace {

/// The sum of the numbers from `base` on, `size` of them.
inline std::size_t skynet(auto c, std::size_t base, std::size_t size) {
  if (size == 1) return base;
  return sukima::parallel_reduce(
      c, 0, 10, std::size_t{0},
      [=](auto below, int i) {
        return skynet(below, base + static_cast<std::size_t>(i) * (size / 10), size / 10);
      },
      std::plus{});
}

}  // namespace

int main(int argc, char* argv[]) {
  const unsigned threads =
      argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : std::thread::hardware_concurrency() / 2;
  std::printf("threads: %u\n", threads);
  sukima::settings chosen;
  chosen.workers = threads;
  sukima::runtime runtime(chosen);
  const auto run = [&] { return runtime.run([](sukima::context c) { return skynet(c, 0, 100'000'000); }); };
  run();  // warm-up

  const auto start = std::chrono::steady_clock::now();
  const std::size_t result = run();
  const auto end = std::chrono::steady_clock::now();
  if (result != 4'999'999'950'000'000) {
    std::printf("ERROR: wrong result - %zu\n", result);
    return 1;
  }
  std::printf(
      "runs:\n  - iteration_count: 1\n    duration: %lld us\n    max_rss: %ld KiB\n",
      static_cast<long long>(std::chrono::duration_cast<std::chrono::microseconds>(end - start).count()),
      peak_memory_usage());
}
