// SPDX-License-Identifier: Apache-2.0
// Measures how two CPUs affect each other; see cpu_pairs.hpp.
#include "cpu_pairs.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <base/shared/assert.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>

#include "bound_threads.hpp"

namespace sukima::calibrate_detail {

namespace {

/// Calculates four independent chains of multiplications and additions, with which one thread uses more than
/// half of a core's units. The result depends on all chains, so the compiler cannot remove any of them.
std::uint64_t calculate(int steps) {
  std::uint64_t a = 1;
  std::uint64_t b = 2;
  double x = 1.0;
  double y = 1.5;
  for (int i = 0; i < steps; i++) {
    a = a * 6364136223846793005U + 1442695040888963407U;
    b = b * 2862933555777941757U + 3037000493U;
    x = x * 0.999999 + 0.000001;
    y = y * 0.999998 + 0.000002;
  }
  return a + b + static_cast<std::uint64_t>(x + y);
}

/// The best rate of several windows.
double best_rate(double seconds) {
  constexpr int steps = 2000;
  // Keeps the results alive. Relaxed: no thread reads it.
  static std::atomic<std::uint64_t> sink{0};
  double best = 0;
  for (int i = 0; i < repetitions; i++) {
    const clock::time_point begin = clock::now();
    double spent = 0;
    double done = 0;
    do {
      sink.store(calculate(steps), std::memory_order_relaxed);
      done += steps;
      spent = seconds_since(begin);
    } while (spent < seconds);
    best = std::max(best, done / spent);
  }
  return best;
}

/// The side whose turn it is, 0 or 1; 2 means the end. Partner: `pass` stores it with release, `wait` loads
/// it with acquire. No other data depends on it, but a real hand-over has these orders.
using turn = std::atomic<std::uint32_t>;

/// Is in a cache line of its own.
struct alignas(128) shared_turn {
  turn whose{0};
};

long futex(turn& word, int operation, std::uint32_t value) {
  return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, nullptr, nullptr, 0);
}

/// Runs round trips between two threads for some time. \returns the seconds of one way, the best of several
/// windows
/// \param pass pass(turn, value) hands over the turn
/// \param wait wait(turn, value) waits while the turn is `value`
template <class Pass, class Wait>
double seconds_of_a_way(unsigned first, unsigned second, double seconds, Pass pass, Wait wait) {
  shared_turn shared;
  turn& whose = shared.whose;
  double best = std::numeric_limits<double>::infinity();
  const auto lead = [&] {
    for (int i = 0; i < repetitions; i++) {
      constexpr int rounds = 50;
      const clock::time_point begin = clock::now();
      double spent = 0;
      double ways = 0;
      do {
        for (int k = 0; k < rounds; k++) {
          pass(whose, 1);
          wait(whose, 1);
        }
        ways += 2 * rounds;
        spent = seconds_since(begin);
      } while (spent < seconds);
      best = std::min(best, spent / ways);
    }
    pass(whose, 2);
  };
  const auto follow = [&] {
    while (true) {
      wait(whose, 0);
      if (whose.load(std::memory_order_acquire) == 2) return;
      pass(whose, 0);
    }
  };
  run_bound({{first, lead}, {second, follow}});
  // Relaxed: both threads have ended.
  SUKIMA_ASSERT(whose.load(std::memory_order_relaxed) == 2, "both sides end after the last turn");
  return best;
}

}  // namespace

double speed_of(unsigned cpu, double seconds) {
  double result = 0;
  run_bound({{cpu, [&] { result = best_rate(seconds); }}});
  return result;
}

both_speeds speed_of_both(unsigned first, unsigned second, double seconds) {
  both_speeds result{};
  // If one side ended earlier, the other would run alone, so each side continues until both have measured.
  // Relaxed: it is only a counter.
  std::atomic<int> measuring{2};
  const auto measure = [&](double& into) {
    into = best_rate(seconds);
    measuring.fetch_sub(1, std::memory_order_relaxed);
    while (measuring.load(std::memory_order_relaxed) != 0) best_rate(seconds / 100);
  };
  run_bound({{first, [&] { measure(result.first); }}, {second, [&] { measure(result.second); }}});
  SUKIMA_ASSERT(result.first > 0 && result.second > 0, "each of two CPUs has a speed");
  return result;
}

double handover_ns(unsigned first, unsigned second, double seconds) {
  const auto pass = [](turn& whose, std::uint32_t value) { whose.store(value, std::memory_order_release); };
  const auto wait = [](turn& whose, std::uint32_t value) {
    while (whose.load(std::memory_order_acquire) == value) relax();
  };
  return seconds_of_a_way(first, second, seconds, pass, wait) * 1e9;
}

double wake_ns(unsigned first, unsigned second, double seconds) {
  const auto pass = [](turn& whose, std::uint32_t value) {
    whose.store(value, std::memory_order_release);
    futex(whose, FUTEX_WAKE_PRIVATE, 1);
  };
  const auto wait = [](turn& whose, std::uint32_t value) {
    while (whose.load(std::memory_order_acquire) == value) futex(whose, FUTEX_WAIT_PRIVATE, value);
  };
  return seconds_of_a_way(first, second, seconds, pass, wait) * 1e9;
}

}  // namespace sukima::calibrate_detail
