// SPDX-License-Identifier: Apache-2.0
// A function that is generic in its context: short calls run as sequential clones, without a cut-off.
#include <sukima/sukima.hpp>

#include <cstdio>

inline long fib(auto c, int n) {
  if (n < 2) return n;
  auto [a, b] = sukima::fork2(
      c, [=](auto below) { return fib(below, n - 1); }, [=](auto below) { return fib(below, n - 2); });
  return a + b;
}

int main() {
  std::printf("%ld\n", sukima::run([](sukima::context c) { return fib(c, 30); }));
}
