// SPDX-License-Identifier: Apache-2.0
// A program in which one branch waits for the other: a worker must split it off, and another one must steal
// it. With an argument the program then waits for a signal, so that its workers have nothing to do.
#include <sukima/sukima.hpp>

#include <unistd.h>

#include <atomic>
#include <cstdio>

namespace {

std::atomic<bool> begun{false};

/// Its forks let the worker reply to thieves.
long fibonacci(sukima::context c, int n) {
  if (n < 2) return n;
  auto [a, b] = sukima::fork2(
      c, [=](sukima::context below) { return fibonacci(below, n - 1); },
      [=](sukima::context below) { return fibonacci(below, n - 2); });
  return a + b;
}

long wait_for_the_other(sukima::context c) {
  long sum = 0;
  while (!begun.load()) sum += fibonacci(c, 8);
  return sum > 0 ? 1 : 0;
}

}  // namespace

int main(int count, char**) {
  sukima::run([](sukima::context c) {
    sukima::fork2(c, wait_for_the_other, [](sukima::context) {
      begun.store(true);
      return 0L;
    });
  });
  if (count > 1) pause();
  std::puts("done");
}
