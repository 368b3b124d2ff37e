// SPDX-License-Identifier: Apache-2.0
// fork2: two calls that may run at the same time. No cut-off: a fork that no worker takes costs about a
// nanosecond.
#include <sukima/sukima.hpp>

#include <cstdio>

// The fast form: the context is handed on from call to call.
static long fibonacci(sukima::context c, int n) {
  if (n < 2) return n;
  auto [a, b] = sukima::fork2(
      c, [=](sukima::context below) { return fibonacci(below, n - 1); },
      [=](sukima::context below) { return fibonacci(below, n - 2); });
  return a + b;
}

// The easy form: the context is looked up.
static long easy_fibonacci(int n) {
  if (n < 2) return n;
  auto [a, b] = sukima::fork2([=] { return easy_fibonacci(n - 1); }, [=] { return easy_fibonacci(n - 2); });
  return a + b;
}

int main() {
  const long fast = sukima::run([](sukima::context c) { return fibonacci(c, 30); });
  std::printf("%ld %ld\n", fast, easy_fibonacci(20));
}
