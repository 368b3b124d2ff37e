// SPDX-License-Identifier: Apache-2.0
// cancellable: a computation that another thread ends after some time.
#include <sukima/sukima.hpp>

#include <chrono>
#include <cstdio>
#include <thread>

/// The longest Collatz sequence of many numbers: would take minutes.
static long longest(sukima::context c, long first, long last) {
  if (last - first < 2) {
    long steps = 0;
    for (long n = first; n > 1; n = n % 2 == 0 ? n / 2 : 3 * n + 1) ++steps;
    return steps;
  }
  const long middle = first + (last - first) / 2;
  auto [a, b] = sukima::fork2(
      c, [=](sukima::context below) { return longest(below, first, middle); },
      [=](sukima::context below) { return longest(below, middle, last); });
  return a > b ? a : b;
}

int main() {
  std::jthread impatient;
  const auto result = sukima::run([&](sukima::context c) {
    return sukima::cancellable(c, [&](sukima::context below, const sukima::canceller& cancel) {
      impatient = std::jthread([cancel] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        cancel.cancel();
      });
      return longest(below, 1, 1L << 32);
    });
  });
  std::printf("%s\n", result ? "found" : "cancelled");
}
