// SPDX-License-Identifier: Apache-2.0
// cancellable with a deadline and with a std::stop_token.
#include <sukima/sukima.hpp>

#include <chrono>
#include <cstdio>
#include <stop_token>

static long fib(sukima::context c, long n) {
  if (n < 2) return n;
  auto [a, b] = sukima::fork2(
      c, [=](sukima::context below) { return fib(below, n - 1); },
      [=](sukima::context below) { return fib(below, n - 2); });
  return a + b;
}

int main() {
  using namespace std::chrono_literals;
  const auto in_time = sukima::cancellable(1h, [](sukima::context c) { return fib(c, 20); });
  const auto too_late = sukima::cancellable(20ms, [](sukima::context c) { return fib(c, 90); });
  std::stop_source source;
  const auto stopped = sukima::cancellable(source.get_token(), [&](sukima::context c) {
    source.request_stop();  // any thread may
    return fib(c, 90);
  });
  std::printf("%ld %s %s\n", in_time.value_or(0), too_late ? "done" : "too late",
              stopped ? "done" : "stopped");
}
