// SPDX-License-Identifier: Apache-2.0
// The solutions of the n-queens problem: a search on one board for each worker.
#include "memusage.hpp"

#include <sukima/sukima.hpp>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <ranges>
#include <thread>

namespace {

constexpr int size = 14;
constexpr int solutions_of_14 = 365'596;

using board = std::array<char, size>;

inline bool is_free(const board& b, int x, int y) {
  for (int i = 0; i < x; ++i) {
    const int p = b[static_cast<std::size_t>(i)];
    if (y == p || y == p - (x - i) || y == p + (x - i)) return false;
  }
  return true;
}

inline int solutions(auto c, board& b, int x) {
  if (x == size) return 1;
  return sukima::search(
      c, b, std::views::iota(0, size),
      [x](board& on, int y) {
        if (!is_free(on, x, y)) return false;
        on[static_cast<std::size_t>(x)] = static_cast<char>(y);
        return true;
      },
      [](board&, int) {},  // the next choice overwrites it
      [x](auto below, board& on, int) { return solutions(below, on, x + 1); }, std::plus{});
}

}  // namespace

int main(int argc, char* argv[]) {
  const unsigned threads =
      argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : std::thread::hardware_concurrency() / 2;
  std::printf("threads: %u\n", threads);
  sukima::settings chosen;
  chosen.workers = threads;
  sukima::runtime runtime(chosen);
  const auto run = [&] {
    board b{};
    return runtime.run([&](sukima::context c) { return solutions(c, b, 0); });
  };
  run();  // warm-up

  const auto start = std::chrono::steady_clock::now();
  const int result = run();
  const auto end = std::chrono::steady_clock::now();
  if (result != solutions_of_14) {
    std::printf("error: expected %d, got %d\n", solutions_of_14, result);
    return 1;
  }
  std::printf(
      "output: %d\nruns:\n  - iteration_count: 1\n    duration: %lld us\n    max_rss: %ld KiB\n", result,
      static_cast<long long>(std::chrono::duration_cast<std::chrono::microseconds>(end - start).count()),
      peak_memory_usage());
}
