// SPDX-License-Identifier: Apache-2.0
#include <sukima/sukima.hpp>

#include <cstdio>

long fib(sukima::context c, int n) {
  if (n < 2) return n;
  auto [a, b] = sukima::fork2(
      c, [=](sukima::context below) { return fib(below, n - 1); },
      [=](sukima::context below) { return fib(below, n - 2); });
  return a + b;
}

int main() {
  const long f = sukima::run([](sukima::context c) { return fib(c, 30); });
  std::printf("fib(30) = %ld\n", f);
}
