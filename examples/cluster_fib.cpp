// SPDX-License-Identifier: Apache-2.0
// Fibonacci numbers on several nodes: sukima cluster run -n 2 -- ./cluster_fib 40
#include <sukima/cluster.hpp>

#include <cstdio>
#include <cstdlib>

long fib(sukima::context c, int n) {
  if (n < 2) return n;
  auto [a, b] = sukima::fork2(c, sukima::call<fib>(n - 1), sukima::call<fib>(n - 2));
  return a + b;
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 30;
  std::printf("%ld\n", sukima::cluster::run(sukima::call<fib>(n)));
}
