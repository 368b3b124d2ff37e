// SPDX-License-Identifier: Apache-2.0
// Small and large stacks, among which threads switch in all ways that there are (valgrind_test.py).
#include <sukima/objects.hpp>
#include <sukima/sukima.hpp>

#include <atomic>
#include <cstddef>
#include <thread>

namespace {

using sukima::context;

sukima::settings with_stacks(std::size_t bytes) { return {.workers = 2, .stack = bytes, .elastic = false}; }

long fib(context c, int n) {
  if (n < 2) return n;
  auto [a, b] =
      sukima::fork2(c, [n](context d) { return fib(d, n - 1); }, [n](context d) { return fib(d, n - 2); });
  return a + b;
}

/// Fibers that suspend one after the other, each on a stack that it has filled.
bool suspends(std::size_t stack) {
  sukima::runtime r(with_stacks(stack));
  std::atomic<int> sum{0};
  r.run([&](context c) {
    sukima::parallel_for(c, 0, 40, [&](context d, int i) {
      volatile char frame[4096];
      for (std::size_t at = 0; at < sizeof frame; ++at) frame[at] = static_cast<char>(i);
      std::thread other;
      sukima::suspend(d, [&](sukima::resumer me) { other = std::thread([me] { me.resume(); }); });
      other.join();
      for (std::size_t at = 0; at < sizeof frame; ++at) sum += frame[at] == static_cast<char>(i) ? 0 : 1;
      ++sum;
    });
  });
  return sum == 40 && r.run([](context c) { return fib(c, 12); }) == 144;
}

/// Objects have stacks of their own, side by side.
bool sends() {
  sukima::runtime r(with_stacks(std::size_t{1} << 20));
  sukima::objects::program p(r);
  auto up = p.stream<int>("up", sukima::objects::capacity{2});
  auto down = p.stream<int>("down", sukima::objects::capacity{2});
  int sum = 0;
  p.object(
      "a",
      [&sum](sukima::objects::out<int> to, sukima::objects::in<int> from) {
        for (int i = 0; i < 200; ++i) {
          to.send(i);
          sum += from.receive().value_or(0);
        }
      },
      up.out(), down.in());
  p.object(
      "b",
      [](sukima::objects::in<int> from, sukima::objects::out<int> to) {
        for (const int i : from) to.send(i + 1);
      },
      up.in(), down.out());
  p.run();
  return sum == 200 * 201 / 2;
}

}  // namespace

int main() { return suspends(std::size_t{32} << 10) && suspends(std::size_t{1} << 20) && sends() ? 0 : 1; }
