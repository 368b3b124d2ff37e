// SPDX-License-Identifier: Apache-2.0
// How soon a second branch begins, and the cost of waiting. Measured on a machine that others use, too, so
// each test accepts the best of several tries.
#include "constants.hpp"
#include "support.hpp"

#include <sukima/detail/ticks.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

namespace {

using std::chrono::duration;
using sukima::context;
using clock_type = std::chrono::steady_clock;

/// The least value of some tries; stops at the first one that is good enough.
template <class F> double best_of(int tries, double good_enough, F measure) {
  double best = measure();
  for (int i = 1; i < tries && best > good_enough; ++i) best = std::min(best, measure());
  return best;
}

double seconds_of(const auto& f) {
  const auto begun = clock_type::now();
  f();
  return duration<double>(clock_type::now() - begun).count();
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Runs for a while without polling. It sleeps instead of computing, because other programs on the machine
/// must not decide whether the two branches overlap.
void never_polls() { std::this_thread::sleep_for(std::chrono::milliseconds(100)); }

constexpr double overlapping = 0.13;  // seconds; one after the other would be 0.2

TEST(timing, two_branches_that_never_poll_overlap) {
  sukima::runtime two(support::with_workers(2));
  EXPECT_LT(best_of(10, overlapping,
                    [&] {
                      return seconds_of(
                          [&] { two.run([](context c) { sukima::fork2(c, never_polls, never_polls); }); });
                    }),
            overlapping);
}

TEST(timing, two_branches_that_never_poll_overlap_after_silence) {
  sukima::runtime two(support::with_workers(2));
  two.run([](context c) { sukima::fork2(c, [] {}, [] {}); });
  EXPECT_LT(best_of(5, overlapping,
                    [&] {
                      std::this_thread::sleep_for(std::chrono::seconds(1));
                      return seconds_of(
                          [&] { two.run([](context c) { sukima::fork2(c, never_polls, never_polls); }); });
                    }),
            overlapping);
}

TEST(timing, iterations_that_never_poll_overlap) {
  sukima::runtime two(support::with_workers(2));
  EXPECT_LT(best_of(10, overlapping,
                    [&] {
                      return seconds_of([&] {
                        two.run([](context c) { sukima::parallel_for(c, 0, 2, [](int) { never_polls(); }); });
                      });
                    }),
            overlapping);
}

TEST(timing, idle_workers_take_no_cpu) {
  sukima::runtime many(support::with_workers(4));
  EXPECT_LT(best_of(5, 0.01,
                    [&] {
                      many.run([](context c) { return support::fib(c, 20); });
                      const double before = cpu_seconds();
                      std::this_thread::sleep_for(std::chrono::seconds(1));
                      return cpu_seconds() - before;
                    }),
            0.01);
}

TEST(timing, silence_takes_no_cpu) {
  sukima::settings s = support::with_workers(2);
  s.elastic = true;  // with a monitor
  sukima::runtime two(s);
  constexpr double enough = 0.0004;  // seconds; twice what the six wake-ups take
  EXPECT_LT(best_of(5, enough,
                    [&] {
                      two.run([](context c) { support::fib(c, 20); });
                      const double before = cpu_seconds();
                      std::this_thread::sleep_for(std::chrono::seconds(2));
                      return cpu_seconds() - before;
                    }),
            enough);
}

TEST(timing, workers_beside_a_task_that_does_nothing_take_no_cpu) {
  sukima::runtime two(support::with_workers(2));
  EXPECT_LT(best_of(5, 0.01,
                    [&] {
                      const double before = cpu_seconds();
                      two.run([](context c) {
                        sukima::fork2(c, [] { std::this_thread::sleep_for(std::chrono::seconds(1)); }, [] {});
                      });
                      return cpu_seconds() - before;
                    }),
            0.01);
}

/// A thread that loses its CPU in the 5 µs of the first measurement spoils it.
TEST(timing, the_counter_is_measured_in_microseconds) {
  using sukima::detail::ticks;
  const double first = sukima::detail::ticks_per_nanosecond();
  EXPECT_LT(best_of(20, 0.05,
                    [&] {
                      const auto begun = clock_type::now();
                      const std::uint64_t begun_ticks = ticks();
                      std::this_thread::sleep_for(std::chrono::milliseconds(50));
                      const std::uint64_t passed = ticks() - begun_ticks;
                      const duration<double, std::nano> time = clock_type::now() - begun;
                      return std::abs(first * time.count() / static_cast<double>(passed) - 1);
                    }),
            0.05);
}

/// From throw to catch with another worker busy in small forks.
TEST(timing, exceptions_arrive_soon) {
  sukima::runtime two(support::with_workers(2));
  constexpr double soon = 0.002;
  EXPECT_LT(best_of(20, soon,
                    [&] {
                      clock_type::time_point thrown;
                      std::atomic<bool> begun{false};
                      try {
                        two.run([&](context c) {
                          sukima::fork2(
                              c,
                              [&](context below) {
                                support::poll_until(below, [&] { return begun.load(); });
                                thrown = clock_type::now();
                                throw support::test_error(1);
                              },
                              [&](context below) {
                                begun = true;
                                support::fork_for_ever(below);
                              });
                        });
                      } catch (const support::test_error&) {
                        return duration<double>(clock_type::now() - thrown).count();
                      }
                      return 1.0;
                    }),
            soon);
}

/// Fibonacci's numbers, with a fork or a future at each call.
[[gnu::noinline]] long by_forks(context c, int n) {
  if (n < 2) return n;
  auto [a, b] = sukima::fork2(
      c, [=](context below) { return by_forks(below, n - 1); },
      [=](context below) { return by_forks(below, n - 2); });
  return a + b;
}
[[gnu::noinline]] long by_futures(context c, int n) {
  if (n < 2) return n;
  sukima::future<long> a(c, [=](context below) { return by_futures(below, n - 1); });
  const long b = by_futures(c, n - 2);
  return a.touch(c) + b;
}

/// The aim is 3 forks; it was 2.9 when this was written. A future that ends by a locked instruction costs 6.
TEST(timing, untaken_futures_cost_a_few_forks) {
  sukima::runtime one(support::with_workers(1));
  constexpr int n = 27;
  const double limit = 7;
  const double ratio = best_of(10, limit, [&] {
    const double forks = seconds_of([&] { one.run([](context c) { return by_forks(c, n); }); });
    const double futures = seconds_of([&] { one.run([](context c) { return by_futures(c, n); }); });
    return futures / forks;
  });
  std::printf("an untaken future: %.1f forks\n", ratio);
  EXPECT_LT(ratio, limit);
}

TEST(timing, launching_and_touching_costs_half_a_microsecond) {
  sukima::runtime one(support::with_workers(1));
  constexpr int many = 100'000;
  const double limit = 0.5e-6;
  const double each = best_of(10, limit, [&] {
    return seconds_of([&] {
             one.run([](context c) {
               std::int64_t sum = 0;
               for (int i = 0; i < many; ++i) sum += sukima::launch([i] { return i; }).touch(c);
               return sum;
             });
           }) /
           many;
  });
  std::printf("launch and touch: %.0f ns\n", 1e9 * each);
  EXPECT_LT(each, limit);
}

}  // namespace
