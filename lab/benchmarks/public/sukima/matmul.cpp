// SPDX-License-Identifier: Apache-2.0
// Recursive matrix multiplication: two times four products of quarters.
#include "matmul.hpp"
#include "memusage.hpp"

#include <sukima/sukima.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

// The leaves take microseconds: a plain context is as fast, and compiles in less time.
void matmul(sukima::context c, int* a, int* b, int* to, int n, int N) {
  if (n <= 32) return matmul_small(a, b, to, n, N);
  const int k = n / 2, down = k * N;
  sukima::fork(
      c, [=](sukima::context d) { matmul(d, a, b, to, k, N); },
      [=](sukima::context d) { matmul(d, a, b + k, to + k, k, N); },
      [=](sukima::context d) { matmul(d, a + down, b, to + down, k, N); },
      [=](sukima::context d) { matmul(d, a + down, b + k, to + down + k, k, N); });
  sukima::fork(
      c, [=](sukima::context d) { matmul(d, a + k, b + down, to, k, N); },
      [=](sukima::context d) { matmul(d, a + k, b + down + k, to + k, k, N); },
      [=](sukima::context d) { matmul(d, a + down + k, b + down, to + down, k, N); },
      [=](sukima::context d) { matmul(d, a + down + k, b + down + k, to + down + k, k, N); });
}

std::vector<int> run(sukima::runtime& runtime, int n) {
  const auto all = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  std::vector<int> a(all, 1), b(all, 1), product(all, 0);
  runtime.run([&](sukima::context c) { matmul(c, a.data(), b.data(), product.data(), n, n); });
  return product;
}

}  // namespace

int main(int argc, char* argv[]) {
  if (argc < 2) {
    std::printf("Usage: matmul <matrix size (power of 2)> [threads]\n");
    return 0;
  }
  const int n = std::atoi(argv[1]);
  const unsigned threads =
      argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : std::thread::hardware_concurrency() / 2;
  std::printf("threads: %u\n", threads);
  sukima::settings chosen;
  chosen.workers = threads;
  sukima::runtime runtime(chosen);
  run(runtime, n);  // warm-up

  const auto start = std::chrono::steady_clock::now();
  const std::vector<int> product = run(runtime, n);
  const auto end = std::chrono::steady_clock::now();
  if (std::any_of(product.begin(), product.end(), [n](int x) { return x != n; })) {
    std::printf("Wrong result\n");
    return 1;
  }
  std::printf(
      "runs:\n  - matrix_size: %d\n    duration: %lld us\n    max_rss: %ld KiB\n", n,
      static_cast<long long>(std::chrono::duration_cast<std::chrono::microseconds>(end - start).count()),
      peak_memory_usage());
}
