// SPDX-License-Identifier: Apache-2.0
// A program that uses Sukima and OpenMP, for `sukima run`: while a parallel region runs, workers leave its
// threads their CPUs, and come back when it has ended. Exit code 1: they do not; 77: there is one CPU only.
#include <sukima/runtime.hpp>

#include <chrono>
#include <cstdio>
#include <thread>

namespace {

bool becomes(unsigned workers) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(5);  // only finds hangs
  while (sukima::default_runtime().workers_now() != workers) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return true;
}

/// Whether the number of workers follows two regions. The calling thread is a worker.
bool follows_regions(unsigned all) {
  for (int round = 0; round < 2; ++round) {
    bool during = false;
#pragma omp parallel num_threads(2)
    {
#pragma omp master
      during = becomes(all - 1);
    }
    if (!during || !becomes(all)) return false;
  }
  return true;
}

}  // namespace

int main() {
  const unsigned all = sukima::default_runtime().workers_now();
  if (all < 2) {
    std::puts("there is one CPU only");
    return 77;
  }
  if (sukima::default_runtime().run([&] { return follows_regions(all); })) return 0;
  std::fprintf(stderr, "%u of %u workers run, which is not what a region of two threads leaves\n",
               sukima::default_runtime().workers_now(), all);
  return 1;
}
