// SPDX-License-Identifier: Apache-2.0
// A user's program for several nodes: prints the 20th Fibonacci number.
#include <sukima/cluster.hpp>

#include <cstdio>

long fib(sukima::context c, int n) {
  if (n < 2) return n;
  auto [a, b] = sukima::fork2(c, sukima::call<fib>(n - 1), sukima::call<fib>(n - 2));
  return a + b;
}

int main() { std::printf("%ld\n", sukima::cluster::run(sukima::call<fib>(20))); }
